// Page snapshots that the agent takes during a login, and the actions that the server orders there. The page may be
// hostile, so everything has a size limit and the server validates each snapshot. Snapshots contain no field values.
//
// Uses connections of purpose `api` with JSON bodies:
//
//   POST /login/look     200 PageSnapshot, takes a LookOrder; waits until the page is quiet, at most most_ms
//   POST /login/visit    200 PageSnapshot, takes a VisitOrder; opens an address first
//   POST /login/act      200 ActResult, takes an ActOrder
//   PUT  /login/storage  200 StorageResult, takes a StorageOrder; replaces cookies and storage of some hosts
//   POST /login/passkeys 200 PasskeysState, takes a PasskeysOrder; keys that answer for the user on pages of these hosts
//   POST /login/photo    200 Photo, takes a PhotoOrder; all fields of the page are covered
//   PUT  /login/secrets  204, takes LoginSecrets; from now on no event of the session contains them, in any encoding
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

/** A control that a user could use: a field, a button, a link, or an element that behaves like one. */
export const ElementSnapshot = Type.Object({
  /** Identifies the element in acts, as long as its document exists. */
  ref: Type.String({ maxLength: 40, pattern: '^[A-Za-z0-9:_-]+$' }),
  /** Index into PageSnapshot.frames. */
  frame: index(),
  /** Lower case. `other` for elements that are controls only by role or behaviour. */
  tag: OneOf(['input', 'select', 'textarea', 'button', 'a', 'option', 'other'] as const, {
    description: 'Kind of element',
  }),
  /** Effective type of an input or button, lower case. Empty for other elements. */
  type: short(),
  role: short(),
  name: short(),
  id: short(),
  /** All tokens in lower case. Falls back to the value of the form. */
  autocomplete: short(),
  input_mode: short(),
  pattern: short(),
  max_length: Nullable(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
  placeholder: short(),
  title: short(),
  class_name: short(),
  /** Names and shortened values of data-* attributes, and of lang, hreflang, tabindex and aria-hidden. */
  data: short(),
  /** Accessible name: the first of label, aria-labelledby and aria-label. */
  label: short(),
  /** Visible text of the element: the text of a button or link, or the value of a submit input. */
  text: short(),
  /** Nearest visible text before the element. */
  near: short(),
  /** Text of aria-describedby. */
  description: short(),
  /** Alternative texts, titles and file names of images in the element. */
  icon: short(),
  /** Full address of a link. For buttons, see the action of the group. */
  href: url(),
  /** Index into FrameSnapshot.groups. */
  group: index(),
  /** x, y, width and height in CSS pixels of the window. */
  box: Type.Array(Type.Integer({ minimum: -1_000_000, maximum: 1_000_000 }), { minItems: 4, maxItems: 4 }),
  is_visible: Type.Boolean(),
  is_enabled: Type.Boolean(),
  is_read_only: Type.Boolean(),
  is_required: Type.Boolean(),
  /** aria-invalid, or :user-invalid. */
  is_invalid: Type.Boolean(),
  is_checked: Type.Boolean(),
  is_focused: Type.Boolean(),
  has_value: Type.Boolean(),
  is_in_dialog: Type.Boolean(),
  /** Nearest of header, nav, footer, main, form, search. */
  region: short(),
  /** Options of a select, without the placeholder option. */
  options: Type.Array(Strict({ value: short(), label: short() }), { maxItems: MAX_OPTIONS }),
  has_choice: Type.Boolean(),
  /** CSS selector. */
  selector: Type.String({ maxLength: 1_000 }),
  xpath: Type.String({ maxLength: 1_000 }),
})
export type ElementSnapshot = Static<typeof ElementSnapshot>

/** A form or, for fields without a form, the smallest container of related fields. */
export const GroupSnapshot = Type.Object({
  is_form: Type.Boolean(),
  action: url(),
  method: short(),
  /** id, name, class, aria-label, role and test ids. */
  attributes: short(),
  /** Nearest heading in or above the group. */
  heading: short(),
  text: Type.String({ maxLength: 2_000 }),
  is_in_dialog: Type.Boolean(),
  region: short(),
})
export type GroupSnapshot = Static<typeof GroupSnapshot>

/** A highlighted text: an alert, an error next to a field, a toast. */
export const MessageSnapshot = Type.Object({
  text: Type.String({ maxLength: 500 }),
  /** alert: role or aria-live. field: an invalid field refers to it. class: class or id. red: colour. dialog: role. */
  kind: OneOf(['alert', 'field', 'class', 'red', 'dialog'] as const, {
    description: 'Why the text counts as a message',
  }),
  group: Nullable(index()),
})
export type MessageSnapshot = Static<typeof MessageSnapshot>

export const FrameSnapshot = Type.Object({
  url: url(),
  /** From the browser, not from the page. `null` for an opaque origin. */
  origin: url(),
  /** Null for the main frame, which comes first. */
  parent: Nullable(index()),
  is_visible: Type.Boolean(),
  title: short(),
  language: short(),
  headings: Type.Array(short(), { maxItems: MAX_HEADINGS }),
  /** All visible text, line by line. */
  text: Type.String({ maxLength: MAX_TEXT_LENGTH }),
  groups: Type.Array(GroupSnapshot, { maxItems: 100 }),
  messages: Type.Array(MessageSnapshot, { maxItems: MAX_MESSAGES }),
  /** Signs of captchas and bot walls: script and frame addresses, and classes and ids of visible elements. */
  challenges: Type.Array(short(), { maxItems: 20 }),
})
export type FrameSnapshot = Static<typeof FrameSnapshot>

export const PageSnapshot = Type.Object({
  /** Grows with each document that the page loads, and when another page or popup becomes current. */
  document: Type.Integer({ minimum: 0 }),
  url: url(),
  /** HTTP status of the document. Null without a response. */
  status: Nullable(Type.Integer({ minimum: 0, maximum: 999 })),
  /** Why the page did not load: Chromium's error such as net::ERR_NAME_NOT_RESOLVED. */
  failure: Nullable(short()),
  /** Response headers that matter for logins: www-authenticate, retry-after, server, cf-mitigated. */
  headers: Type.Record(Type.String({ maxLength: 60 }), short()),
  frames: Type.Array(FrameSnapshot, { maxItems: MAX_FRAMES }),
  elements: Type.Array(ElementSnapshot, { maxItems: MAX_ELEMENTS }),
  /** Requested HTTP authentication that was not answered. The navigation does not wait for an answer. */
  http_auth: Nullable(
    Type.Object({ origin: url(), scheme: short(), realm: short(), is_rejected: Type.Boolean() }),
  ),
  /** JavaScript dialogs since the last look. The agent closes dialogs at once. */
  dialogs: Type.Array(Type.String({ maxLength: 500 }), { maxItems: 10 }),
  /** Whether the page was quiet for a while: no navigation, no request, no change. */
  is_quiet: Type.Boolean(),
  /** Whether a navigation or a request that changes the page is under way. Absent from older agents. */
  is_loading: Type.Optional(Type.Boolean()),
  /** Whether the page polls a server, like pages that wait for another device. */
  is_polling: Type.Boolean(),
  /** Whether this is a popup. While open, it replaces the page that opened it. */
  is_popup: Type.Boolean(),
  /** Number of entries in each storage of the page's origin. */
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
  /** Wait until the document or its visible text changes. */
  until_changed: Type.Optional(Type.Boolean()),
  /**
   * The login waits for its person, who may be using the page. Until the next order, pages go only to these hosts while
   * somebody watches, and no event contains what is typed.
   */
  only_hosts: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 262 }), { maxItems: 200 })),
})
export type LookOrder = Static<typeof LookOrder>

export const VisitOrder = Strict({
  url: Type.String({ minLength: 1, maxLength: MAX_URL_LENGTH }),
  /** Use a temporary tab, so that the page of the login stays unchanged. */
  aside: Type.Boolean(),
  quiet_ms: Type.Integer({ minimum: 0, maximum: 10_000 }),
  most_ms: Type.Integer({ minimum: 0, maximum: 60_000 }),
})
export type VisitOrder = Static<typeof VisitOrder>

const ref = Type.String({ maxLength: 40, pattern: '^[A-Za-z0-9:_-]+$' })

/**
 * The act only runs while the frame's document is on one of these hosts: `a.example`, or `*.a.example` for all subdomains,
 * optionally with a port. The agent asks the browser for the host. A navigation stops the act.
 */
const hosts = Type.Array(Type.String({ minLength: 1, maxLength: 262 }), { maxItems: 200 })

export const ActOrder = Strict({
  act: OneOf(
    ['fill', 'choose', 'click', 'tick', 'enter', 'authenticate', 'solve', 'reload', 'back'] as const,
    {
      description:
        'fill: replaces the value with real key presses; several refs are boxes with one character each. choose: selects an option. tick: ticks a checkbox. enter: presses Enter in the field. authenticate: answers HTTP authentication from now on. solve: gives the token of a captcha to the page',
    },
  ),
  refs: Type.Optional(Type.Array(ref, { maxItems: 12 })),
  /** The text for fill, the option for choose, the password for authenticate, the token for solve. */
  value: Type.Optional(Type.String({ maxLength: 10_000 })),
  user: Type.Optional(Type.String({ maxLength: 1_000 })),
  hosts: Type.Optional(hosts),
})
export type ActOrder = Static<typeof ActOrder>

export const ActResult = Strict({
  /** gone: the element or its document no longer exists. elsewhere: the host is not allowed. refused: not usable now. */
  result: OneOf(['done', 'gone', 'elsewhere', 'refused'] as const, { description: 'Result of the act' }),
  reason: Type.Optional(short()),
})
export type ActResult = Static<typeof ActResult>

const MAX_PHOTO_LENGTH = 400_000

export const PhotoOrder = Strict({
  /** Only this part of the window: x, y, width and height. Then it may be taken after something was typed, too. */
  box: Type.Optional(Type.Array(Type.Integer({ minimum: 0, maximum: 10_000 }), { minItems: 4, maxItems: 4 })),
})
export type PhotoOrder = Static<typeof PhotoOrder>

export const Photo = Strict({
  /** Base64. Null if there is none: a value was typed, or the page did not let its fields be covered. */
  jpeg: Nullable(Type.String({ maxLength: MAX_PHOTO_LENGTH, pattern: '^[A-Za-z0-9+/=]*$' })),
})
export type Photo = Static<typeof Photo>

export const LoginSecrets = Strict({
  values: Type.Array(Type.String({ maxLength: 10_000 }), { maxItems: 100 }),
})
export type LoginSecrets = Static<typeof LoginSecrets>

/** A cookie as a server has read it from an import. */
const StoredCookie = Strict({
  name: Type.String({ maxLength: 4_096 }),
  value: Type.String({ maxLength: 4_096 }),
  host: Type.String({ minLength: 1, maxLength: 255 }),
  is_host_only: Type.Boolean(),
  path: Type.String({ minLength: 1, maxLength: 1_024 }),
  is_secure: Type.Boolean(),
  is_http_only: Type.Boolean(),
  same_site: Type.Optional(OneOf(['Strict', 'Lax', 'None'] as const, { description: 'SameSite' })),
  /** Seconds since 1970. Absent for a cookie of the session. */
  expires: Type.Optional(Type.Number({ minimum: 0 })),
})
export type StoredCookie = Static<typeof StoredCookie>

export const StorageOrder = Strict({
  /** All cookies of these hosts are deleted first, whatever the port. */
  hosts,
  /** Everything that these origins store is deleted first. */
  origins: Type.Array(url(), { maxItems: 300 }),
  cookies: Type.Array(StoredCookie, { maxItems: 3_000 }),
  local: Type.Array(
    Strict({
      origin: url(),
      items: Type.Array(
        Strict({
          name: Type.String({ maxLength: 10_000 }),
          value: Type.String({ maxLength: 2 * 1024 * 1024 }),
        }),
        { maxItems: 4_000 },
      ),
    }),
    { maxItems: 100 },
  ),
})
export type StorageOrder = Static<typeof StorageOrder>

export const StorageResult = Strict({
  /** How many cookies and items Chromium did not take. */
  refused: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
})
export type StorageResult = Static<typeof StorageResult>

export const MAX_PASSKEYS = 50
const base64 = (maxLength: number) => Type.String({ pattern: '^[A-Za-z0-9+/]*={0,2}$', maxLength })

/** In base64, as Chromium has it. */
export const Passkey = Strict({
  credential_id: base64(2_000),
  rp_id: Type.String({ minLength: 1, maxLength: 255 }),
  /** PKCS#8. */
  private_key: base64(8_000),
  user_handle: base64(200),
  user_name: Type.String({ maxLength: 1_000 }),
  user_display_name: Type.String({ maxLength: 1_000 }),
  sign_count: Type.Integer({ minimum: 0, maximum: 0xff_ff_ff_ff }),
})
export type Passkey = Static<typeof Passkey>

export const PasskeysOrder = Strict({
  /** Added to those that are there already. */
  keys: Type.Array(Passkey, { maxItems: MAX_PASSKEYS }),
  /** Pages of other hosts have no keys, whatever the key says. */
  hosts,
  /** Whether pages may make keys now. */
  may_create: Type.Boolean(),
})
export type PasskeysOrder = Static<typeof PasskeysOrder>

export const PasskeysState = Strict({
  /** All keys, those that pages have made too. `sign_count` grows with each use. */
  keys: Type.Array(Passkey, { maxItems: 2 * MAX_PASSKEYS }),
})
export type PasskeysState = Static<typeof PasskeysState>
