// What rules make of a page.
import type { ElementSnapshot, FrameSnapshot } from '@berth/contracts/page-snapshot'
import type { ChoiceKind, FailureCode, FieldKind, MfaType } from '../run.ts'

export interface ReadField {
  readonly kind: FieldKind
  readonly ref: string
  readonly inputType: 'text' | 'email' | 'password' | 'tel' | 'number' | 'url' | 'code' | 'totp'
  readonly label: string
  readonly hint: string | undefined
  readonly isRequired: boolean
  /** Where the code comes from, if the page says. */
  readonly mfaType: MfaType | undefined
  /** Several of a code with a box for every character, in their order. */
  readonly elements: readonly ElementSnapshot[]
}

export type FormKind = 'login' | 'identifier' | 'password' | 'code' | 'question' | 'new password'

export interface ReadForm {
  readonly kind: FormKind
  readonly frame: number
  readonly group: number
  readonly fields: readonly ReadField[]
  readonly submit: ElementSnapshot | undefined
  readonly ticks: readonly ElementSnapshot[]
  /** Tells this form from others; no value is in it. */
  readonly signature: string
}

export interface ReadChoice {
  readonly kind: ChoiceKind
  readonly label: string
  readonly description: string | undefined
  readonly mfaType: MfaType | undefined
  readonly target: string | undefined
  readonly provider: string | undefined
  readonly element: ElementSnapshot
  /** Of a select: what is chosen in it. */
  readonly option: string | undefined
}

export interface Complaint {
  readonly text: string
  readonly about: 'identifier' | 'password' | 'code' | 'any'
  readonly kind: 'wrong' | 'expired' | 'required' | 'locked' | 'too many'
}

export interface Obstacle {
  readonly code: FailureCode
  readonly message: string
  /** What the page says of it. */
  readonly text: string | undefined
}

export interface Reading {
  readonly obstacle: Obstacle | undefined
  readonly form: ReadForm | undefined
  readonly choices: readonly ReadChoice[]
  /** What the person has to do elsewhere. */
  readonly waiting: string | undefined
  /** A button that lets the login go on: consent, stay signed in, skip. */
  readonly confirm: Confirm | undefined
  /** Of something that is in front of the page. */
  readonly dismiss: ElementSnapshot | undefined
  /** What the page says is wrong, the most telling first. */
  readonly complaints: readonly Complaint[]
  /** What it says that it did not before something was sent. */
  readonly news: readonly string[]
  readonly loginLinks: readonly ElementSnapshot[]
  readonly signs: Signs
}

export interface Confirm {
  readonly button: ElementSnapshot
  /** Boxes without which the button does nothing. */
  readonly ticks: readonly ElementSnapshot[]
}

export interface Signs {
  /** Such as `link:log out`. */
  readonly isSignedIn: boolean
  readonly isSignedOut: boolean
}

/** A frame with what is in it. */
export interface Scene {
  readonly frame: FrameSnapshot
  readonly index: number
  readonly elements: readonly ElementSnapshot[]
}
