// The result of reading a page.
import type { ElementSnapshot, FrameSnapshot } from '@berth/contracts/page-snapshot'
import type { ChoiceKind, FailureCode, FieldKind, MfaType } from '../run/run.ts'

export interface ReadField {
  readonly kind: FieldKind
  readonly ref: string
  readonly inputType: 'text' | 'email' | 'password' | 'tel' | 'number' | 'url' | 'code' | 'totp'
  readonly label: string
  readonly hint: string | undefined
  readonly isRequired: boolean
  /** How the user gets the code, if the page says so. */
  readonly mfaType: MfaType | undefined
  /** Several elements, in order, for a code with one box per character. */
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
  /** Identifies the form. Contains no values. */
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
  /** For a select: the option to choose. */
  readonly option: string | undefined
}

export interface Complaint {
  readonly text: string
  readonly about: 'identifier' | 'password' | 'code' | 'any'
  readonly kind: 'wrong' | 'expired' | 'required' | 'locked' | 'too many'
  /** Not there before the form was submitted. Before the first submission, nothing is new. */
  readonly isNew: boolean
  /** Belongs to the form: beside a field, in its group, or in a dialog of the page. */
  readonly isAtForm: boolean
}

export interface Obstacle {
  readonly code: FailureCode
  readonly message: string
  /** What the page says about it. */
  readonly text: string | undefined
  /** The page does not say what it is about. It may as well be a signed-in page with a notice. */
  readonly isUncertain?: boolean
}

export interface Reading {
  readonly obstacle: Obstacle | undefined
  /** The page asks to solve a captcha, perhaps beside a form. */
  readonly hasCaptcha: boolean
  readonly form: ReadForm | undefined
  readonly choices: readonly ReadChoice[]
  /** What the user must do elsewhere. */
  readonly waiting: string | undefined
  /** A button that continues the login: consent, stay signed in, skip. */
  readonly confirm: Confirm | undefined
  /** The button that closes a banner over the page. */
  readonly dismiss: ElementSnapshot | undefined
  /** Error messages of the page, most reliable first. */
  readonly complaints: readonly Complaint[]
  /** Text that is new since the form was submitted. */
  readonly news: readonly string[]
  readonly loginLinks: readonly ElementSnapshot[]
  /** Controls without words that may lead to the login, best first. */
  readonly loginIcons: readonly ElementSnapshot[]
  readonly signs: Signs
}

export interface Confirm {
  readonly button: ElementSnapshot
  /** Checkboxes that the button requires. */
  readonly ticks: readonly ElementSnapshot[]
}

export interface Signs {
  readonly isSignedIn: boolean
  readonly isSignedOut: boolean
}

/** A frame and its elements. */
export interface Scene {
  readonly frame: FrameSnapshot
  readonly index: number
  readonly elements: readonly ElementSnapshot[]
}
