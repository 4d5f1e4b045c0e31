// Notes every decision of a login while it is made: what the page looked like, why the engine acts, and what it does
// then. The login never waits for whoever keeps the notes, and never fails because of them.
import type { ActOrder, ActResult, ElementSnapshot, PageSnapshot } from '@berth/contracts/page-snapshot'
import { holdsAny } from '../rules/mask.ts'
import { caption } from '../rules/element-words.ts'
import { readPage } from '../rules/read-page.ts'
import type { Reading } from '../rules/reading.ts'
import type { PageActions } from '../run/page-actions.ts'
import type { CheckOutcome, LoginOptions, LoginOutcome, Question, RunState } from '../run/run.ts'
import { maskAddress, maskSnapshot, maskText } from './masking.ts'
import { inWords, outlineOf } from './outline.ts'
import type { ExplainedStep, ReasonId } from '../run/step.ts'

const MAX_PHOTOS = 4
const MAX_DEEDS = 25
const MAX_TOLD = 60
/** Characters of all pages as JSON. */
const MAX_PAGES_SIZE = 8_000_000

interface Open {
  readonly at: Date
  readonly reason: ReasonId
  snapshot: PageSnapshot | undefined
  reading: Reading | undefined
  readonly did: string[]
  photo: string | undefined
}

type Options = Pick<LoginOptions, 'pageActions' | 'onState' | 'onStep' | 'plan' | 'signal'>

export class Explanation {
  readonly #options: Options
  readonly #secrets: () => readonly string[]
  #open: Open | undefined
  #last: PageSnapshot | undefined
  /** Where elements of earlier snapshots stay known: acts name them by their refs. */
  readonly #names = new Map<string, string>()
  #isSearching = true
  /** From then on a photo could show a value, in the page's own text. */
  #isTyped = false
  #photos = 0
  #count = 0
  readonly #made: Open[] = []
  /** What was told, in case a value becomes known later that a page showed earlier. */
  #told: ExplainedStep[] = []
  #known = 0
  #pageSize = 0
  #photographed = -1

  /** `secrets`: what no text may contain. */
  constructor(options: Options, secrets: () => readonly string[]) {
    this.#options = options
    this.#secrets = secrets
  }

  /** The page actions that the login is to use. */
  get pageActions(): PageActions {
    const { pageActions, onStep } = this.#options
    if (!onStep) return pageActions
    return {
      look: async (order, signal) => this.#seen(await pageActions.look(order, signal)),
      visit: async (order, signal) => {
        const where = maskAddress(order.url, this.#secrets())
        if (this.#isSearching && !order.aside && this.#open?.snapshot)
          this.#begin('find_login', undefined, undefined)
        const snapshot = await pageActions.visit(order, signal)
        if (order.aside) {
          this.#did(`opened ${where} in another tab${arrivedIn(snapshot)}`)
          return snapshot
        }
        this.#did(`opened ${where}${arrivedIn(snapshot)}`)
        return this.#seen(snapshot)
      },
      act: async (order, signal) => {
        if (order.act === 'fill' || order.act === 'authenticate') this.#isTyped = true
        const result = await pageActions.act(order, signal)
        this.#did(deed(order, result, this.#nameOf(order)))
        return result
      },
      hide: (values) => pageActions.hide(values),
      passkeys: (order, signal) => pageActions.passkeys(order, signal),
      store: (order, signal) => pageActions.store(order, signal),
      ...(pageActions.photo && { photo: (order, signal) => pageActions.photo!(order, signal) }),
    }
  }

  get onState(): LoginOptions['onState'] {
    const { onState, onStep } = this.#options
    if (!onStep) return onState
    return (state: RunState) => {
      if ('question' in state) this.#asked(state.question)
      onState(state)
    }
  }

  /** Call it before anything is done about the page. */
  async note(reason: ReasonId, snapshot: PageSnapshot, reading?: Reading): Promise<void> {
    if (!this.#options.onStep) return
    this.#isSearching = false
    const isRepeated = this.#open?.reason === reason && this.#open.snapshot?.document === snapshot.document
    if (isRepeated && this.#open!.did.length === 0) return
    this.#begin(reason, snapshot, reading)
    await this.#takePhoto(snapshot)
  }

  /** Before the login is found, each visited page is a step. */
  search(reason: ReasonId): void {
    if (this.#options.onStep) this.#begin(reason, undefined, undefined)
  }

  /** What was done about the page besides page actions. */
  add(did: string): void {
    if (this.#options.onStep) this.#did(did)
  }

  end(outcome: LoginOutcome): Promise<void> {
    return this.#end(
      outcome.isSuccess
        ? 'found that the login succeeded'
        : `ended the login as ${outcome.code}: ${outcome.message}`,
    )
  }

  /** For an end that is not an outcome: the browser failed, or somebody stopped the login. */
  stop(): void {
    this.#flush()
    this.#tell()
  }

  async #end(did: string): Promise<void> {
    if (!this.#options.onStep) return
    const { snapshot } = this.#open ?? {}
    if (!this.#open || (snapshot && this.#last && snapshot.document !== this.#last.document))
      this.#begin('end', this.#last, undefined)
    if (this.#last) await this.#takePhoto(this.#last)
    this.#did(did)
    this.#flush()
  }

  #begin(reason: ReasonId, snapshot: PageSnapshot | undefined, reading: Reading | undefined): void {
    this.#flush()
    this.#open = { at: new Date(), reason, snapshot, reading, did: [], photo: undefined }
  }

  #seen(snapshot: PageSnapshot): PageSnapshot {
    this.#last = snapshot
    this.#names.clear()
    for (const element of snapshot.elements) this.#names.set(element.ref, named(element))
    // While it searches, the newest look at a page says most.
    if (this.#isSearching && this.#open) {
      this.#open.snapshot = snapshot
      this.#open.reading = undefined
    }
    return snapshot
  }

  #nameOf({ refs = [] }: ActOrder): string {
    return this.#names.get(refs[0] ?? '') ?? 'an element'
  }

  #did(text: string): void {
    this.#open ??= {
      at: new Date(),
      reason: this.#isSearching ? 'find_login' : 'go_on',
      snapshot: this.#last,
      reading: undefined,
      did: [],
      photo: undefined,
    }
    if (this.#open.did.length < MAX_DEEDS) this.#open.did.push(text)
  }

  /** What is asked is worth knowing while the person is asked. */
  #asked({ fields, choices, externalAction }: Question): void {
    this.#isTyped = true
    const parts = [
      fields.length > 0 && `for ${fields.map(({ label }) => `"${label}"`).join(', ')}`,
      choices.length > 0 && `to choose between ${choices.map(({ label }) => `"${label}"`).join(', ')}`,
      externalAction !== undefined && `to act: "${externalAction}"`,
    ].filter((part) => typeof part === 'string')
    this.#did(`asked the person ${parts.join(', or ')}`)
    this.#flush()
  }

  async #takePhoto(snapshot: PageSnapshot): Promise<void> {
    const { pageActions, signal, plan } = this.#options
    const open = this.#open
    if (!open || !pageActions.photo || this.#isTyped || this.#photos >= MAX_PHOTOS) return
    // A page that went well before is known, and the login is to be quick.
    if (plan && open.reason === 'fill') return
    if (snapshot.document === this.#photographed || snapshot.failure !== null) return
    if (holdsAny(wordsOf(snapshot), this.#secrets())) return
    this.#photos++
    this.#photographed = snapshot.document
    try {
      open.photo = (await pageActions.photo({}, signal)).jpeg ?? undefined
    } catch {
      // The next look tells what is wrong with the browser.
    }
  }

  /** The step is made while the login waits for its browser. */
  #flush(): void {
    const open = this.#open
    this.#open = undefined
    if (!open || (open.did.length === 0 && !open.snapshot)) return
    this.#made.push(open)
    if (this.#made.length === 1) setImmediate(() => this.#tell())
  }

  #tell(): void {
    this.#maskAgain()
    for (const open of this.#made.splice(0)) {
      const step = this.#withinBounds(this.#toStep(open, this.#count++))
      this.#told = [...this.#told, step].slice(-MAX_TOLD)
      this.#options.onStep?.(step)
    }
  }

  /** A website may have shown a name before the person typed it. */
  #maskAgain(): void {
    const secrets = this.#secrets()
    if (secrets.length === this.#known) return
    this.#known = secrets.length
    this.#told = this.#told.map((step) => {
      if (!holdsAny(textsIn({ ...step, photo: undefined }), secrets)) return step
      const masked: ExplainedStep = {
        ...step,
        saw: maskText(step.saw, secrets),
        did: step.did.map((text) => maskText(text, secrets)),
        page: step.page && maskSnapshot(step.page, secrets),
        read: step.read && maskOutline(step.read, secrets),
        photo: undefined,
      }
      this.#options.onStep?.(masked)
      return masked
    })
  }

  /** A page may be made to be large, and to be seen often. */
  #withinBounds(step: ExplainedStep): ExplainedStep {
    const size = JSON.stringify(step.page ?? null).length
    if (this.#pageSize + size > MAX_PAGES_SIZE) return { ...step, page: undefined, photo: undefined }
    this.#pageSize += size
    return step
  }

  #toStep({ at, reason, snapshot, reading, did, photo }: Open, index: number): ExplainedStep {
    const secrets = this.#secrets()
    const read = snapshot && (reading ?? readPage(snapshot))
    return {
      index,
      at,
      reason,
      saw: snapshot && read ? maskText(inWords(snapshot, read), secrets) : 'nothing yet',
      did: did.map((text) => maskText(text, secrets)),
      page: snapshot && maskSnapshot(snapshot, secrets, read),
      read: snapshot && read && maskOutline(outlineOf(read), secrets),
      photo,
    }
  }
}

/** A health check types nothing, and is one step. */
export function stepOfCheck(
  snapshot: PageSnapshot,
  { at, url, outcome }: { at: Date; url: string; outcome: CheckOutcome },
): ExplainedStep {
  const reading = readPage(snapshot)
  return {
    index: 0,
    at,
    reason: 'check_session',
    saw: maskText(inWords(snapshot, reading), []),
    did: [
      `opened ${maskAddress(url, [])}${arrivedIn(snapshot)}`,
      `found that the profile is ${foundWords[outcome.result]}: ${maskText(outcome.reason, [])}`,
    ],
    page: maskSnapshot(snapshot, []),
    read: maskOutline(outlineOf(reading), []),
    photo: undefined,
  }
}

const foundWords = {
  in: 'logged in',
  out: 'logged out',
  inconclusive: 'neither clearly logged in nor out',
} as const satisfies Record<CheckOutcome['result'], string>

function maskOutline<T>(outline: T, secrets: readonly string[]): T {
  // SAFETY: only texts change, and no key and no code of ours looks like anything that is masked.
  return JSON.parse(JSON.stringify(outline), (_key, value: unknown) =>
    typeof value === 'string' ? maskText(value, secrets) : value,
  ) as T
}

function arrivedIn({ failure, status }: PageSnapshot): string {
  if (failure !== null) return `, which failed: ${failure}`
  return status !== null && status >= 400 ? `, HTTP ${status}` : ''
}

function named(element: ElementSnapshot): string {
  const words = caption(element) || element.placeholder || element.name || element.type || element.tag
  return `"${words.slice(0, 80)}"`
}

const deeds: Readonly<Record<ActOrder['act'], (name: string) => string>> = {
  fill: (name) => `typed a value into ${name}`,
  choose: (name) => `chose an option of ${name}`,
  click: (name) => `clicked ${name}`,
  tick: (name) => `ticked ${name}`,
  enter: (name) => `pressed Enter in ${name}`,
  authenticate: () => 'answered HTTP authentication',
  solve: () => 'put the answer to the captcha into the page',
  reload: () => 'loaded the page again',
  back: () => 'went back',
}

function deed({ act }: ActOrder, { result, reason }: ActResult, name: string): string {
  if (result === 'done') return deeds[act](name)
  const why = {
    gone: 'it is gone',
    elsewhere: 'the page is not on an allowed host',
    refused: 'it cannot be used',
  }[result]
  return `tried, but ${why}: ${deeds[act](name)}${reason === undefined ? '' : ` (${reason})`}`
}

/** Every text in it, as it is and not as JSON writes it. */
function textsIn(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return ''
  return Object.values(value)
    .map((each) => textsIn(each))
    .join('\n')
}

function wordsOf({ frames, elements, url }: PageSnapshot): string {
  const own = elements.flatMap(({ label, text, near, description, placeholder }) => [
    label,
    text,
    near,
    description,
    placeholder,
  ])
  return [url, ...frames.flatMap(({ title, text }) => [title, text]), ...own].join('\n')
}
