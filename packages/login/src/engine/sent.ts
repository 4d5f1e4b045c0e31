// A submitted form, and how the website responded.
import type { PageSnapshot } from '@berth/contracts/page-snapshot'
import { readPage } from '../rules/read-page.ts'
import type { Complaint, ReadForm, Reading } from '../rules/reading.ts'

/** Identifies a form by its origin and its fields. */
export function keyOf(snapshot: PageSnapshot, form: ReadForm): string {
  return `${snapshot.frames[form.frame]?.origin ?? ''} ${form.signature}`
}

export class Sent {
  readonly form: ReadForm
  readonly key: string
  /** Lines of the page before submission. Other lines are news. */
  readonly lines: ReadonlySet<string>
  readonly at = performance.now()
  readonly #document: number
  /** Messages that were only shown for a moment. */
  #passing: readonly string[] = []
  readonly #complaints: ReadonlySet<string>

  constructor(snapshot: PageSnapshot, form: ReadForm) {
    this.form = form
    this.key = keyOf(snapshot, form)
    this.lines = new Set(
      snapshot.frames.flatMap(({ text, messages }) => [
        ...text.split('\n'),
        // The text of the page has no messages that are hidden.
        ...messages.map((message) => message.text),
      ]),
    )
    this.#document = snapshot.document
    this.#complaints = new Set(readPage(snapshot).complaints.map(({ text }) => text))
  }

  isOtherDocument({ document }: PageSnapshot): boolean {
    return document !== this.#document
  }

  noteGlimpse(snapshot: PageSnapshot): void {
    const { complaints, news } = readPage(snapshot, { linesBefore: this.lines })
    const fresh = complaints.filter(({ text }) => !this.#complaints.has(text))
    this.#passing = [...fresh.map(({ text }) => text), ...news]
  }

  /** Why a submitted form is shown again. */
  becameOf(
    snapshot: PageSnapshot,
    { complaints, news }: Reading,
    form: ReadForm,
  ): Complaint | 'nothing yet' | 'another' {
    const isReloaded = this.isOtherDocument(snapshot)
    const fresh = complaints.find(
      ({ text, kind }) => kind !== 'required' && (isReloaded || !this.#complaints.has(text)),
    )
    if (fresh) return fresh
    if (keyOf(snapshot, form) !== this.key) return 'another'
    const isEmptied = form.fields.some(
      ({ kind, elements }) =>
        (kind === 'password' || kind === 'code' || kind === 'totp_code') &&
        elements.every((element) => !element.has_value),
    )
    const [text = ''] = [...news, ...this.#passing]
    if (!isReloaded && !isEmptied && text === '') return 'nothing yet'
    return {
      text: text || (complaints[0]?.text ?? ''),
      about: 'any',
      kind: 'wrong',
      isNew: text !== '',
      isAtForm: false,
    }
  }
}
