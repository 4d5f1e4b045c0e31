// Asks the user, and watches the page at the same time, because it may continue without an answer.
import type { PageSnapshot } from '@berth/contracts/page-snapshot'
import { allowedHosts } from '../hosts/hosts.ts'
import { readPage } from '../rules/read-page.ts'
import type { ReadChoice, Reading } from '../rules/reading.ts'
import type { LoginOptions, Submission } from '../run/run.ts'
import { isSame, type Browser } from './browser.ts'
import { placeOf } from './plans.ts'
import { ask, type Asked, type ToAsk } from './questions.ts'
import type { Values } from './values.ts'

const LOOK_TIMEOUT_MS = 5_000

/** Where the question came up. The login goes on when this page does. */
export interface AskedPage {
  readonly snapshot: PageSnapshot
  readonly reading: Reading
  /** The person uses the page, so another document counts even if it looks the same. */
  readonly isLeft?: boolean
  /** The login also goes on when this is true. */
  readonly until?: () => Promise<boolean>
  /** The person may go from page to page meanwhile. */
  readonly isAnyPage?: boolean
}

export type Answer = { readonly changed: PageSnapshot } | { readonly choice: ReadChoice | undefined }

export class Conversation {
  readonly #options: LoginOptions
  readonly #browser: Browser
  readonly #values: Values

  constructor(options: LoginOptions, browser: Browser, values: Values) {
    this.#options = options
    this.#browser = browser
    this.#values = values
  }

  /** Stores the submitted values. Without a page, only the answer counts. */
  async ask(toAsk: Partial<ToAsk>, page: AskedPage | undefined): Promise<Answer> {
    const asked = ask({ ...nothing, ...toAsk, secrets: this.#values.all })
    const step = toAsk.externalAction === undefined ? 'AWAITING_INPUT' : 'AWAITING_EXTERNAL_ACTION'
    this.#options.onState({ step, question: asked.question })
    const answer = await this.#answerOrChange(asked, page)
    if ('changed' in answer) return answer
    this.#options.onState({ step: 'SUBMITTING' })
    const { values, choiceId } = answer.submission
    for (const [id, value] of Object.entries(values)) {
      const field = asked.fieldOf.get(id)
      if (field && value !== '') this.#values.give(field, value)
    }
    return { choice: choiceId === undefined ? undefined : asked.choiceOf.get(choiceId) }
  }

  async #answerOrChange(
    { question }: Asked,
    page: AskedPage | undefined,
  ): Promise<{ submission: Submission } | { changed: PageSnapshot }> {
    const done = new AbortController()
    const signal = AbortSignal.any([this.#options.signal, done.signal])
    const submitted = this.#options.submitted(question, signal).then((submission) => ({ submission }))
    const changed = page
      ? this.#whenPageContinues(page, signal).then((snapshot) => ({ changed: snapshot }))
      : undefined
    // The slower one rejects with our own abort.
    submitted.catch(() => {})
    changed?.catch(() => {})
    try {
      return await (changed ? Promise.race([submitted, changed]) : submitted)
    } finally {
      done.abort()
      await changed?.catch(() => {})
    }
  }

  async #whenPageContinues(
    { snapshot, reading, isLeft, until, isAnyPage }: AskedPage,
    signal: AbortSignal,
  ): Promise<PageSnapshot> {
    const isOther = (now: PageSnapshot) => {
      const { form, waiting, choices } = readPage(now)
      if (now.failure !== null || isSame(snapshot, now)) return false
      if (isLeft === true && now.document !== snapshot.document) return true
      if (placeOf(now) !== placeOf(snapshot) || form?.signature !== reading.form?.signature) return true
      return (
        (waiting === undefined) !== (reading.waiting === undefined) ||
        choices.length !== reading.choices.length
      )
    }
    const hosts = allowedHosts(this.#options.domain, this.#options.allowedDomains)
    for (;;) {
      const now = await this.#browser.lookForPerson(LOOK_TIMEOUT_MS, hosts, signal)
      signal.throwIfAborted()
      if (until && (await until())) return now
      if (isAnyPage === true || !isOther(now)) continue
      // A page that only redraws itself soon looks the same again.
      const settled = await this.#browser.lookForPerson(500, hosts, signal)
      if (isOther(settled)) return settled
    }
  }
}

const nothing: ToAsk = {
  fields: [],
  refused: new Set(),
  optional: new Set(),
  choices: [],
  externalAction: undefined,
  websiteError: undefined,
  secrets: [],
}
