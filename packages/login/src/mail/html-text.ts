// The text and the links of a mail's body. Not a browser: what decides is what stands there, not how it looks. The regular
// expressions are linear, because a mail may be written to be slow.

const MAX_CHARACTERS = 400_000
const MAX_TEXT = 40_000
const MAX_LINKS = 100
const MAX_URL = 2_048

export interface Link {
  readonly href: string
  readonly text: string
}

interface Body {
  readonly text: string
  readonly links: readonly Link[]
}

export function bodyOf({ html, text }: { html: string; text: string }): Body {
  if (html === '') return { text: tidy(text.slice(0, MAX_TEXT)), links: linksInText(text) }
  const read = readHtml(html.slice(0, MAX_CHARACTERS))
  return read.links.length > 0 ? read : { ...read, links: linksInText(text) }
}

function readHtml(html: string): Body {
  const links: Link[] = []
  let text = ''
  let open: { href: string; start: number } | undefined
  const close = () => {
    if (open && links.length < MAX_LINKS) links.push({ href: open.href, text: tidy(text.slice(open.start)) })
    open = undefined
  }
  let skipped: string | undefined
  for (const { name, isEnd, attributes, before } of tagsOf(html)) {
    if (skipped === undefined) text += decode(before)
    if (text.length > MAX_TEXT) break
    if (isEnd && name === skipped) skipped = undefined
    else if (!isEnd && skipped === undefined && /^(script|style|title|template)$/.test(name)) skipped = name
    if (skipped !== undefined) continue
    if (BLOCK.test(name)) text += '\n'
    else if (name === 'td' || name === 'th') text += ' '
    if (name !== 'a') continue
    close()
    const href = isEnd ? undefined : hrefOf(attributes)
    if (href !== undefined) open = { href, start: text.length }
  }
  close()
  return { text: tidy(text), links }
}

const BLOCK = /^(br|p|div|tr|table|li|ul|ol|h[1-6]|hr|blockquote|section|article|header|footer|center|pre)$/

interface Tag {
  readonly name: string
  readonly isEnd: boolean
  readonly attributes: string
  readonly before: string
}

/** The text before each tag, and the tag. The last one is empty. */
function* tagsOf(html: string): Generator<Tag> {
  let at = 0
  while (at < html.length) {
    const start = html.indexOf('<', at)
    if (start === -1) break
    const before = html.slice(at, start)
    if (html.startsWith('<!--', start)) {
      const end = html.indexOf('-->', start + 4)
      at = end === -1 ? html.length : end + 3
      yield { name: '', isEnd: false, attributes: '', before }
      continue
    }
    const end = html.indexOf('>', start)
    if (end === -1) {
      at = start
      break
    }
    const inner = html.slice(start + 1, Math.min(end, start + 5_000))
    const isEnd = inner.startsWith('/')
    const name = /^\/?([a-zA-Z][a-zA-Z0-9]*)/.exec(inner)?.[1]?.toLowerCase() ?? ''
    // "3 < 4" is no tag.
    if (name === '' && !inner.startsWith('!') && !inner.startsWith('?')) {
      yield { name: '', isEnd: false, attributes: '', before: `${before}<` }
      at = start + 1
      continue
    }
    yield { name, isEnd, attributes: inner, before }
    at = end + 1
  }
  yield { name: '', isEnd: false, attributes: '', before: html.slice(at) }
}

function hrefOf(attributes: string): string | undefined {
  const found = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(attributes)
  const href = decode(found?.[1] ?? found?.[2] ?? found?.[3] ?? '').trim()
  return /^https?:\/\//i.test(href) && href.length <= MAX_URL ? href : undefined
}

function linksInText(text: string): Link[] {
  const found = text.slice(0, MAX_TEXT).matchAll(/https?:\/\/[^\s<>"'\])]{4,2000}/gi)
  return [...found].slice(0, MAX_LINKS).map(([url]) => ({ href: url.replace(/[.,;:!?]+$/, ''), text: '' }))
}

const names: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  zwnj: '',
  shy: '',
}

function decode(text: string): string {
  return text.replaceAll(/&(#x?[0-9a-f]{1,6}|[a-z]{2,6});/gi, (whole, name: string) => {
    if (!name.startsWith('#')) return names[name.toLowerCase()] ?? whole
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
    return code > 0 && code <= 0x10_ff_ff && (code < 0xd8_00 || code > 0xdf_ff)
      ? String.fromCodePoint(code)
      : ' '
  })
}

/** Lines without the spaces and invisible characters that mails are full of. */
function tidy(text: string): string {
  return text
    .slice(0, MAX_TEXT)
    .replaceAll(/\u034f|[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]/g, '')
    .split('\n')
    .map((line) => line.replaceAll(/\s+/g, ' ').trim())
    .filter(Boolean)
    .join('\n')
}
