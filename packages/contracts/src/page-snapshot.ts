// What the agent says of the page that a login goes through, and what it is asked to do there. The page may be
// anybody's: all of it is bounded, and the server checks it before it believes a word. No value of any field is in it.
//
// Over connections of purpose `api`, bodies are JSON:
//
//   POST /login/look     200 PageSnapshot, LookOrder: of the page as it is when it has become quiet, or after most_ms
//   POST /login/visit    200 PageSnapshot, VisitOrder: the same of another address
//   POST /login/act      200 ActResult, ActOrder
//   PUT  /login/secrets  204, LoginSecrets: what no event of the session may hold from now on, in any spelling
import { Type, type Static } from 'typebox'
import { Nullable, OneOf, Strict } from './schema.ts'

export const MAX_FRAMES = 16
export const MAX_ELEMENTS = 400
export const MAX_MESSAGES = 40
export const MAX_HEADINGS = 20
export const MAX_OPTIONS = 60
export const MAX_TEXT_LENGTH = 20_000
const SHORT = 300
const MAX_URL_LENGTH = 4_096

const short = () => Type.String({ maxLength: SHORT })
const url = () => Type.String({ maxLength: MAX_URL_LENGTH })
const index = () => Type.Integer({ minimum: 0, maximum: 10_000 })

/** A control that a person could use: a field, a button, a link, or what behaves as one. */
export const ElementSnapshot = Type.Object({
  /** Names it in acts, as long as its document lives. */
  ref: Type.String({ maxLength: 40, pattern: '^[A-Za-z0-9:_-]+$' }),
  /** Index into PageSnapshot.frames. */
  frame: index(),
  /** Lower case; `other` for what is a button by its role only. */
  tag: OneOf(['input', 'select', 'textarea', 'button', 'a', 'option', 'other'] as const, {
    description: 'Kind of element',
  }),
  /** Of an input, lower case, as the browser takes it; empty for others. */
  type: short(),
  role: short(),
  name: short(),
  id: short(),
  /** Lower case, all tokens; that of the form where it has none. */
  autocomplete: short(),
  input_mode: short(),
  pattern: short(),
  max_length: Nullable(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
  placeholder: short(),
  title: short(),
  class_name: short(),
  /** Names and values of data-* attributes, cut short. */
  data: short(),
  /** Accessible name: label, aria-label, aria-labelledby, in this order of trust. */
  label: short(),
  /** What it shows itself: the text of a button or link, the value of a submit input, the options of nothing. */
  text: short(),
  /** Visible text that stands nearest before it. */
  near: short(),
  /** Of aria-describedby. */
  description: short(),
  /** Alternative texts, titles and file names of pictures in it. */
  icon: short(),
  /** Whole, of a link; where a button of a form leads is in its group. */
  href: url(),
  /** Index into FrameSnapshot.groups. */
  group: index(),
  /** In CSS pixels of the window: x, y, width, height. */
  box: Type.Array(Type.Integer({ minimum: -1_000_000, maximum: 1_000_000 }), { minItems: 4, maxItems: 4 }),
  is_visible: Type.Boolean(),
  is_enabled: Type.Boolean(),
  is_read_only: Type.Boolean(),
  is_required: Type.Boolean(),
  /** aria-invalid, or what the browser itself finds invalid after it was used. */
  is_invalid: Type.Boolean(),
  is_checked: Type.Boolean(),
  is_focused: Type.Boolean(),
  has_value: Type.Boolean(),
  is_in_dialog: Type.Boolean(),
  /** header, nav, footer, main, form, search; the nearest of them. */
  region: short(),
  /** Of a select, without a placeholder. */
  options: Type.Array(Strict({ value: short(), label: short() }), { maxItems: MAX_OPTIONS }),
  has_choice: Type.Boolean(),
  /** Unique in its document (CSS), and XPath for what is clicked. */
  selector: Type.String({ maxLength: 1_000 }),
  xpath: Type.String({ maxLength: 1_000 }),
})
export type ElementSnapshot = Static<typeof ElementSnapshot>

/** A form or, for fields without one, the smallest container that holds what belongs together. */
export const GroupSnapshot = Type.Object({
  is_form: Type.Boolean(),
  action: url(),
  method: short(),
  /** Its id, name, class, aria-label, role, test ids. */
  attributes: short(),
  /** Nearest heading in or above it. */
  heading: short(),
  text: Type.String({ maxLength: 2_000 }),
  is_in_dialog: Type.Boolean(),
  region: short(),
})
export type GroupSnapshot = Static<typeof GroupSnapshot>

/** A text that the page sets off: an alert, an error beside a field, a toast. */
export const MessageSnapshot = Type.Object({
  text: Type.String({ maxLength: 500 }),
  /** alert: by its role or aria-live. field: an invalid field refers to it. class: by its class or id. red: by colour. */
  kind: OneOf(['alert', 'field', 'class', 'red', 'dialog'] as const, { description: 'Why it is one' }),
  group: Nullable(index()),
})
export type MessageSnapshot = Static<typeof MessageSnapshot>

export const FrameSnapshot = Type.Object({
  url: url(),
  /** As the browser knows it, not as the page says; `null` for an opaque one. */
  origin: url(),
  /** Null for the main frame, which is the first. */
  parent: Nullable(index()),
  is_visible: Type.Boolean(),
  title: short(),
  language: short(),
  headings: Type.Array(short(), { maxItems: MAX_HEADINGS }),
  /** All visible text, line by line. */
  text: Type.String({ maxLength: MAX_TEXT_LENGTH }),
  groups: Type.Array(GroupSnapshot, { maxItems: 100 }),
  messages: Type.Array(MessageSnapshot, { maxItems: MAX_MESSAGES }),
  /** Traces of captchas and bot walls: script and frame addresses, classes and ids that speak of one and are shown. */
  challenges: Type.Array(short(), { maxItems: 20 }),
})
export type FrameSnapshot = Static<typeof FrameSnapshot>

export const PageSnapshot = Type.Object({
  /** Grows with every document that is loaded into the page, and with every other page that takes its place. */
  document: Type.Integer({ minimum: 0 }),
  url: url(),
  /** HTTP status of the document; null where there was none. */
  status: Nullable(Type.Integer({ minimum: 0, maximum: 999 })),
  /** Why it could not be loaded, in Chromium's words such as net::ERR_NAME_NOT_RESOLVED. */
  failure: Nullable(short()),
  /** Of the answer, where it has something to say of logins: www-authenticate, retry-after, server, cf-mitigated. */
  headers: Type.Record(Type.String({ maxLength: 60 }), short()),
  frames: Type.Array(FrameSnapshot, { maxItems: MAX_FRAMES }),
  elements: Type.Array(ElementSnapshot, { maxItems: MAX_ELEMENTS }),
  /** HTTP authentication that is asked for and was not answered; navigation waits for nothing. */
  http_auth: Nullable(
    Type.Object({ origin: url(), scheme: short(), realm: short(), is_rejected: Type.Boolean() }),
  ),
  /** JavaScript dialogs that were shown since the last look; they are closed at once. */
  dialogs: Type.Array(Type.String({ maxLength: 500 }), { maxItems: 10 }),
  /** Whether it became quiet: no navigation, no request, no change for a while. */
  is_quiet: Type.Boolean(),
  /** Whether it asks somebody the same again and again, as pages do that wait for another device. */
  is_polling: Type.Boolean(),
  /** A popup, while it is open, takes the place of the page that opened it. */
  is_popup: Type.Boolean(),
  /** How many cells of storage the page's origin has: cookies, localStorage, IndexedDB. */
  storage: Type.Object({
    cookies: Type.Integer({ minimum: 0 }),
    local: Type.Integer({ minimum: 0 }),
    indexed: Type.Integer({ minimum: 0 }),
  }),
})
export type PageSnapshot = Static<typeof PageSnapshot>

export const LookOrder = Strict({
  quiet_ms: Type.Integer({ minimum: 0, maximum: 10_000 }),
  most_ms: Type.Integer({ minimum: 0, maximum: 60_000 }),
  /** Of the page as it was: return as soon as it is another document or its visible text is another. */
  until_changed: Type.Optional(Type.Boolean()),
})
export type LookOrder = Static<typeof LookOrder>

export const VisitOrder = Strict({
  url: Type.String({ minLength: 1, maxLength: MAX_URL_LENGTH }),
  /** In a tab of its own, which is closed afterwards; the page of the login stays as it is. */
  aside: Type.Boolean(),
  quiet_ms: Type.Integer({ minimum: 0, maximum: 10_000 }),
  most_ms: Type.Integer({ minimum: 0, maximum: 60_000 }),
})
export type VisitOrder = Static<typeof VisitOrder>

const ref = Type.String({ maxLength: 40, pattern: '^[A-Za-z0-9:_-]+$' })

/**
 * Only while the document of the frame is of one of `hosts` (`a.example`, or `*.a.example` for all below it; with a port
 * where one is meant), which the agent looks up in the browser itself; a navigation meanwhile ends it.
 */
const hosts = Type.Array(Type.String({ minLength: 1, maxLength: 262 }), { maxItems: 200 })

export const ActOrder = Strict({
  act: OneOf(['fill', 'choose', 'click', 'tick', 'enter', 'authenticate', 'reload', 'back'] as const, {
    description:
      'fill: types over what is there, with real keys; into a run of one-character boxes if there are several refs. choose: an option of a select. tick: a checkbox, if it is not. enter: in that field. authenticate: answers HTTP authentication from now on',
  }),
  refs: Type.Optional(Type.Array(ref, { maxItems: 12 })),
  /** Of fill and choose; of authenticate `user` and the password. */
  value: Type.Optional(Type.String({ maxLength: 10_000 })),
  user: Type.Optional(Type.String({ maxLength: 1_000 })),
  hosts: Type.Optional(hosts),
})
export type ActOrder = Static<typeof ActOrder>

export const ActResult = Strict({
  /** gone: the element or its document is no more. elsewhere: not one of the hosts. refused: it cannot be used now. */
  result: OneOf(['done', 'gone', 'elsewhere', 'refused'] as const, { description: 'What became of it' }),
  reason: Type.Optional(short()),
})
export type ActResult = Static<typeof ActResult>

export const LoginSecrets = Strict({
  values: Type.Array(Type.String({ minLength: 1, maxLength: 10_000 }), { maxItems: 100 }),
})
export type LoginSecrets = Static<typeof LoginSecrets>
