// One decision of the engine: what it saw, why it did something, and what it did. Contains no value that anybody typed.
import type { PageSnapshot } from '@berth/contracts/page-snapshot'

/** Why the engine did something, as its turn decided. */
export const reasons = {
  find_login: 'It looks for the login',
  check_session: 'An earlier login may still be valid, so it looks at the page that tells',
  show_login: 'It did not find the login, so the person shows it',
  did_not_load: 'The page did not load, and one more attempt is safe',
  website_error: 'The website failed, and one more attempt is safe',
  http_auth: 'The website asks for HTTP authentication',
  passkey: 'The page takes a passkey that the credential has',
  fill: 'Everything that the form asks for is known',
  ask: 'Something is missing that only the person can give',
  await_answer: 'The form was submitted, and the website has not answered yet',
  refused: 'The form is shown again: the website rejected what was submitted',
  choose: 'The page offers a choice, and one of its options is the right one',
  captcha: 'The page asks to solve a captcha',
  mail: 'The website sends something by mail, and the credential has a mailbox',
  wait: 'The page waits for something that happens elsewhere',
  confirm: 'The page has one button that goes on',
  check_success: 'Nothing more is asked, so it checks whether the login succeeded',
  dismiss: 'A banner covers the page',
  look_again: 'The page offers nothing to do, so it looks again',
  go_on: 'The page went on, or the person answered',
  end: 'The login ends here',
} as const satisfies Readonly<Record<string, string>>
export type ReasonId = keyof typeof reasons

/** What the rules read of a page: JSON, so that a report can hold it and a test can compare it. Absent parts: there is none. */
export interface Outline {
  readonly form?: { readonly kind: string; readonly fields: readonly string[]; readonly submit?: string }
  readonly choices?: readonly string[]
  readonly has_captcha?: boolean
  readonly obstacle?: string
  readonly is_waiting?: boolean
  readonly confirm?: string
  readonly complaints?: readonly string[]
  readonly is_signed_in?: boolean
  readonly is_signed_out?: boolean
}

export interface ExplainedStep {
  /** Of the login, from 0. A later step with the same index replaces the earlier one. */
  readonly index: number
  readonly at: Date
  readonly reason: ReasonId
  /** In words. */
  readonly saw: string
  /** In words, in order. */
  readonly did: readonly string[]
  /** The page as the rules saw it, masked. */
  readonly page: PageSnapshot | undefined
  /** What the rules made of it. */
  readonly read: Outline | undefined
  /** A photo of the page with all its fields covered, as base64 of a JPEG. Only from before anything was typed. */
  readonly photo: string | undefined
}
