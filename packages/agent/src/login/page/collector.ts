// Collects the content of one document. Everything has a limit, because the page may be huge or hostile.
import { clickabilityOf, isField } from './controls.ts'
import { describeElement } from './describe.ts'
import type { Found, Heading } from './found.ts'
import { Groups } from './groups.ts'
import { challengeOf, messageKind, messagesOf, type Candidate } from './messages.ts'
import { labelOf, shownTextOf, textIn } from './names.ts'
import {
  activeIn,
  allWithin,
  attribute,
  byId,
  documentElementOf,
  DrawnTree,
  isDrawn,
  labelsOf,
  localNameOf,
  oneLine,
  rectOf,
  titleOf,
} from './nodes.ts'
import { Selectors } from './selectors.ts'
import type { Collected, Tools } from './tools.ts'
import { MIN_PIXELS, walk, type Place, type Visit } from './walk.ts'

const MAX_FOUND = 3_000
const MAX_SCRIPTS = 300
const MAX_LINE_LENGTH = 2_000

export function collect(tools: Tools): Collected {
  const tree = new DrawnTree(tools.shadowRootOf)
  const scene = new Scene(tree, tools)
  walk(tree, scene)
  scene.endLine()
  return scene.collected()
}

class Scene {
  readonly #tree: DrawnTree
  readonly #tools: Tools
  readonly #found: Found[] = []
  readonly #headings: Heading[] = []
  readonly #candidates: { element: Element; kind: Candidate['kind'] }[] = []
  readonly #challenges = new Set<string>()
  readonly #lines: string[] = []
  #size = 0
  #line = ''
  #near = ''
  /** A checkbox without a label gets the text after it as its name. */
  #unnamed: Found | undefined

  constructor(tree: DrawnTree, tools: Tools) {
    this.#tree = tree
    this.#tools = tools
  }

  enter(visit: Visit): boolean {
    const { element, name, isShown, above } = visit
    this.#note(visit)
    const asField = isField(element, name)
    const asControl = asField ? undefined : clickabilityOf(visit)
    if ((!asField && (!asControl || above.isInControl)) || this.#found.length >= MAX_FOUND) return false
    const isBox = element instanceof HTMLInputElement && /^(radio|checkbox)$/.test(element.type)
    const label = isBox && !isShown ? labelsOf(element).find((each) => isLabelShown(each)) : undefined
    if (!isShown && !label && (!asField || isBox)) return false
    const found: Found = {
      element,
      name,
      isField: asField,
      isWeak: asControl === 'weak',
      isShown: isShown || label !== undefined,
      rect: label ? rectOf(label) : visit.rect,
      region: visit.place.region,
      isInDialog: visit.place.isInDialog,
      near: this.#near,
      label: labelOf(this.#tree, element),
      text: shownTextOf(this.#tree, element),
    }
    this.#found.push(found)
    if (asField && isShown && !isBox) this.#near = ''
    if (asField) {
      this.#unnamed = isBox && !found.label ? found : undefined
      this.#noteComplaints(element)
    }
    return asControl === 'strong'
  }

  text(data: string, { isInControl, isBlock }: Place): void {
    if (this.#line.length < MAX_LINE_LENGTH) this.#line += data.slice(0, MAX_LINE_LENGTH)
    const text = isInControl ? '' : oneLine(data, this.#tools.bounds.short)
    if (!text) return
    this.#near = isBlock
      ? text
      : oneLine(`${this.#near} ${text}`.slice(-this.#tools.bounds.short), this.#tools.bounds.short)
    if (this.#unnamed) this.#unnamed.text = text
    this.#unnamed = undefined
  }

  endLine(): void {
    const text = oneLine(this.#line, MAX_LINE_LENGTH)
    this.#line = ''
    if (!text || this.#size >= this.#tools.bounds.text) return
    this.#lines.push(text)
    this.#size += text.length + 1
  }

  collected(): Collected {
    const { bounds } = this.#tools
    const root = documentElementOf(document) as Element | null
    if (!root) return nothing
    const chosen = this.#chosen()
    const groups = new Groups(this.#tree, bounds, chosen)
    const context = {
      tree: this.#tree,
      tools: this.#tools,
      selectors: new Selectors(bounds.selector),
      focused: this.#focused(),
    }
    const fields = this.#found.filter((each) => each.isField).map((each) => each.element)
    const candidates = this.#candidates.map((each) => ({ ...each, group: groups.around(each.element) }))
    for (const script of [...allWithin(root, 'script[src]')].slice(0, MAX_SCRIPTS))
      this.#challenge(script, 'script', false)
    return {
      frame: {
        title: oneLine(titleOf(document), bounds.short),
        language: attribute(root, 'lang'),
        headings: this.#headings.map(({ text }) => text),
        text: this.#lines.join('\n').slice(0, bounds.text),
        groups: groups.describe(this.#headings),
        messages: messagesOf(this.#tree, candidates, {
          fields,
          maxCount: bounds.messages,
          maxLength: bounds.message,
        }),
        challenges: [...this.#challenges],
      },
      elements: chosen.map((each) => describeElement(each, groups.numberOf(each), context)),
    }
  }

  #note({ element, name, style, isShown, above }: Visit): void {
    this.#challenge(element, name, isShown)
    if (!isShown) return
    const { bounds } = this.#tools
    const isHeading = /^(h[1-6]|legend)$/.test(name) || attribute(element, 'role') === 'heading'
    if (isHeading && this.#headings.length < bounds.headings) {
      const text = textIn(this.#tree, element, bounds.short)
      if (text) this.#headings.push({ element, text })
    }
    if (this.#candidates.length >= bounds.messages * 5 || isField(element, name)) return
    const kind = messageKind(element, style)
    if (kind && !(kind === 'red' && (above.isInControl || name === 'a' || name === 'button')))
      this.#candidates.push({ element, kind })
  }

  /** Error messages that an invalid field refers to. */
  #noteComplaints(element: Element): void {
    if (attribute(element, 'aria-invalid') !== 'true') return
    const ids = `${attribute(element, 'aria-errormessage')} ${attribute(element, 'aria-describedby')}`.split(
      ' ',
    )
    for (const id of ids.filter(Boolean).slice(0, 5)) {
      const message = byId(element, id)
      if (message) this.#candidates.push({ element: message, kind: 'field' })
    }
  }

  #challenge(element: Element, name: string, isShown: boolean): void {
    if (this.#challenges.size >= this.#tools.bounds.challenges) return
    const challenge = challengeOf(element, name, isShown)
    if (challenge) this.#challenges.add(oneLine(challenge, this.#tools.bounds.short))
  }

  #chosen(): Found[] {
    // An element that only contains controls is not a control.
    const surrounding = new Set<Element>()
    for (const { element, isWeak } of this.#found) {
      if (!isWeak) for (const each of this.#tree.ancestorsOf(element, 30)) surrounding.add(each)
    }
    const kept = this.#found.filter(
      (each) =>
        !each.isWeak ||
        (!surrounding.has(each.element) &&
          each.text.length < 250 &&
          (each.text + each.label !== '' || isPicture(each))),
    )
    return kept
      .map((each, index) => ({ each, index, rank: rankOf(each) }))
      .toSorted((left, right) => left.rank - right.rank || left.index - right.index)
      .slice(0, this.#tools.bounds.elements)
      .toSorted((left, right) => left.index - right.index)
      .map(({ each }) => each)
  }

  #focused(): Element | null {
    let focused: Element | null = null
    let root: Document | ShadowRoot | null = document
    for (let depth = 0; root && depth < 20; depth++) {
      focused = activeIn(root) ?? focused
      root = focused ? this.#tools.shadowRootOf(focused) : null
    }
    return focused
  }
}

const MIN_ICON_PIXELS = 12
const MAX_ICON_PIXELS = 100

/** A control without words. Larger pictures are decoration. */
function isPicture({ element, name, rect, isShown }: Found): boolean {
  const { width, height } = rect
  const isSmall = Math.min(width, height) >= MIN_ICON_PIXELS && Math.max(width, height) <= MAX_ICON_PIXELS
  return isShown && isSmall && (/^(svg|img|i)$/.test(name) || allWithin(element, 'img, svg, i').length > 0)
}

const nothing: Collected = {
  frame: { title: '', language: '', headings: [], text: '', groups: [], messages: [], challenges: [] },
  elements: [],
}

const INVITING =
  /log|sign|auth|sso|account|konto|compte|cuenta|session|anmeld|einlog|connex|ident|acced|entra|ingres|inlog|logg|kirj|zalog|přihl|войти|вход|увійти|giri|ログイン|サインイン|登录|登錄|登入|로그인/i

/** If there are too many elements, those about logins come first. */
function rankOf({
  element,
  name,
  text,
  label,
  region,
  isField: asField,
  isShown,
  isInDialog,
}: Found): number {
  if (asField && isShown) return 0
  if (isInDialog || name === 'button' || name === 'input') return 1
  if (INVITING.test(text + label + attribute(element, 'href'))) return 1
  return asField || region === 'header' || region === 'nav' ? 2 : 3
}

function isLabelShown(label: Element): boolean {
  const { width, height } = rectOf(label)
  const isThere = isDrawn(label, { opacityProperty: true, visibilityProperty: true })
  return isThere && width >= MIN_PIXELS && height >= MIN_PIXELS && localNameOf(label) === 'label'
}
