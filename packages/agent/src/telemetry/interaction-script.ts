// Runs in every document, in a world of its own: it shares the document with the page and nothing else. It tells of
// clicks, keys and scrolling; never of what is typed where a secret may be.

export const WORLD = 'berth-telemetry'
export const BINDING = 'berthTelemetry'

export const INTERACTION_SCRIPT = String.raw`(() => {
  if (globalThis.isWatching) return
  globalThis.isWatching = true
  const MAX_TEXT = 100
  const MAX_SELECTOR = 500
  const SETTLE_MS = 300
  const MIN_PIXELS = 5
  const SECRET_AUTOCOMPLETE = /(^|\s)(current-password|new-password|one-time-code|cc-\S+)(\s|$)/i
  const SECRET_NAME = /pass(word|wd|code|phrase)?(?![a-z])|passw|pwd|secret|token|otp|mfa|2fa|totp|pin(?![a-z])|ssn|social.?sec|card|cvv|cvc|csc|iban|account.?n|routing|security.?(code|answer)|api.?key|private.?key|credential/i
  /** Elements that take text by themselves, or are known to have none inside. */
  const PLAIN = new Set(['INPUT', 'TEXTAREA', 'SELECT', 'BUTTON', 'A', 'BODY', 'HTML', 'CANVAS', 'VIDEO', 'AUDIO', 'SUMMARY', 'IFRAME'])

  const send = (kind, data) => {
    try {
      globalThis.berthTelemetry(JSON.stringify({ kind, isTop: window === window.top, url: location.href, data }))
    } catch {}
  }

  const innermost = (event) => {
    const [first] = event.composedPath()
    return first instanceof Element ? first : first instanceof Document ? first.documentElement : event.target
  }

  const isSecretField = (element) => {
    if (!(element instanceof Element)) return false
    if (element.type === 'password') return true
    const isMasked = () => {
      const style = getComputedStyle(element)
      return style.webkitTextSecurity !== undefined && style.webkitTextSecurity !== 'none'
    }
    const words = [element.name, element.id, element.getAttribute('aria-label'), element.getAttribute('placeholder')]
    return SECRET_AUTOCOMPLETE.test(element.getAttribute('autocomplete') || '') ||
      words.some((word) => typeof word === 'string' && SECRET_NAME.test(word)) || isMasked()
  }

  /** A closed shadow tree hides what has the focus in it. */
  const mayHide = (element) =>
    !PLAIN.has(element.tagName) && !element.isContentEditable &&
    (element.tagName.includes('-') || !element.hasAttribute('tabindex'))

  const isSecret = (element) => {
    for (let each = element; each; each = each.parentElement || (each.getRootNode && each.getRootNode().host)) {
      if (each === element ? isSecretField(each) : each.isContentEditable && isSecretField(each)) return true
    }
    return false
  }

  const selectorOf = (element) => {
    const parts = []
    for (let each = element; each instanceof Element && parts.length < 8; each = each.parentElement) {
      if (each.id && each.id.length < 100) {
        parts.unshift('#' + CSS.escape(each.id))
        break
      }
      const tag = each.localName
      const siblings = each.parentElement ? [...each.parentElement.children].filter((other) => other.localName === tag) : []
      parts.unshift(siblings.length > 1 && siblings.length < 1000 ? tag + ':nth-of-type(' + (siblings.indexOf(each) + 1) + ')' : tag)
    }
    return parts.join(' > ').slice(0, MAX_SELECTOR)
  }

  const textOf = (element) => {
    if (isSecret(element) || element instanceof HTMLInputElement && !/^(button|submit|reset)$/.test(element.type)) return undefined
    if (element instanceof HTMLTextAreaElement || element.isContentEditable) return undefined
    // The text of a large part of the page does not describe a click, and is slow to read.
    const text = element instanceof HTMLInputElement ? element.value
      : element.getElementsByTagName('*').length > 200 ? '' : element.textContent || ''
    return text.replace(/\s+/g, ' ').trim().slice(0, MAX_TEXT)
  }

  const listen = (type, handle) => window.addEventListener(type, (event) => {
    if (!event.isTrusted) return
    try {
      handle(event)
    } catch {}
  }, { capture: true, passive: true })

  listen('click', (event) => {
    const element = innermost(event)
    send('click', { x: event.clientX, y: event.clientY, selector: selectorOf(element), tag: element.tagName, text: textOf(element) })
  })

  listen('keydown', (event) => {
    const element = innermost(event)
    const isHidden = isSecret(element) || mayHide(element)
    send('key', { key: isHidden ? undefined : event.key, selector: selectorOf(element), tag: element.tagName })
  })

  const scrolls = new Map()
  const positionOf = (target) => target instanceof Document
    ? { x: window.scrollX, y: window.scrollY }
    : { x: target.scrollLeft, y: target.scrollTop }
  // Where things were before: a scroll event comes when they have moved.
  const last = new WeakMap()
  listen('scroll', (event) => {
    const { target } = event
    const now = positionOf(target)
    const known = scrolls.get(target)
    if (known) clearTimeout(known.timer)
    const from = known ? known.from : last.get(target) || { x: 0, y: 0 }
    const timer = setTimeout(() => {
      scrolls.delete(target)
      const to = positionOf(target)
      last.set(target, to)
      if (Math.abs(to.x - from.x) <= MIN_PIXELS && Math.abs(to.y - from.y) <= MIN_PIXELS) return
      send('scroll', {
        from_x: Math.round(from.x), from_y: Math.round(from.y), to_x: Math.round(to.x), to_y: Math.round(to.y),
        target_selector: target instanceof Document ? 'document' : selectorOf(target),
      })
    }, SETTLE_MS)
    scrolls.set(target, { from, timer })
    last.set(target, now)
  })
})()`
