// The passkeys of a login: those of the credential answer for the user, and those that the website makes while its person
// is there are kept.
import type { Passkey, PageSnapshot } from '@berth/contracts/page-snapshot'
import { isOf } from '../hosts/hosts.ts'
import { offersInField, passkeyControlOf, passkeyOfferOf, toChoice } from '../rules/passkeys.ts'
import { readPage } from '../rules/read-page.ts'
import type { Obstacle, ReadChoice, Reading } from '../rules/reading.ts'
import type { LoginOptions, PasskeyNews } from '../run/run.ts'
import type { Browser } from './browser.ts'
import type { Conversation } from './conversation.ts'
import { LoginFailed } from './failure.ts'
import { placeOf } from './plans.ts'

/** Pages that offer passkeys in a field ask the browser while they load. */
const IN_FIELD_MS = 3_000
/** From the press to the key: the website is asked for a challenge first. */
const ANSWER_MS = 10_000
const LOOK_MS = 300
const MAX_LOOKS_AFTER_PRESS = 4

export interface PasskeyLoginOptions {
  readonly options: LoginOptions
  readonly browser: Browser
  readonly conversation: Conversation
}

/** What to do about a page. */
export type PasskeyStep = { readonly press: ReadChoice } | { readonly snapshot: PageSnapshot }

export class PasskeyLogin {
  readonly #options: LoginOptions
  readonly #browser: Browser
  readonly #conversation: Conversation
  readonly #hosts: readonly string[]
  readonly #keys = new Map<string, Passkey>()
  /** How often the browser says that each was used. */
  readonly #counts = new Map<string, number>()
  readonly #made = new Map<string, Passkey>()
  readonly #pressed = new Set<string>()
  #waitedFor = -1
  #isArmed = false
  #mayCreate = false
  #hasAnswered = false
  #hasOffered = false
  #looksAfterPress = 0

  constructor({ options, browser, conversation }: PasskeyLoginOptions) {
    const { known, passkeys } = options
    this.#options = options
    this.#browser = browser
    this.#conversation = conversation
    this.#hosts = [...(known?.hosts ?? passkeys?.hosts ?? [])]
    for (const key of known?.passkeys ?? []) this.#keys.set(key.credential_id, key)
  }

  /** Whether a key has answered for the user. */
  get hasAnswered(): boolean {
    return this.#hasAnswered
  }

  async lookWhetherAnswered(): Promise<boolean> {
    await this.#look()
    return this.#hasAnswered
  }

  /** Keys that the website made. */
  get made(): readonly Passkey[] {
    return [...this.#made.values()]
  }

  /** Finds what was made before the server was restarted. */
  async recover(): Promise<void> {
    if (this.#options.passkeys?.areKept === true) await this.#look()
  }

  /** From now on, the keys answer. The login page must be opened again, because pages ask while they load. */
  async arm(): Promise<void> {
    if (this.#keys.size === 0) return
    this.#isArmed = true
    await this.#look()
  }

  /** Whether a key may answer on this page. */
  fits({ url }: PageSnapshot): boolean {
    const { hostname = '' } = URL.parse(url) ?? {}
    const isOfKey = [...this.#keys.values()].some(
      ({ rp_id: rp }) => hostname === rp || hostname.endsWith(`.${rp}`),
    )
    return this.#isArmed && isOfKey && isOf(url, this.#hosts)
  }

  /** The stored key comes first, before anything is typed. */
  async next(snapshot: PageSnapshot, { signs, obstacle }: Reading): Promise<PasskeyStep | undefined> {
    if (!this.#isArmed) return undefined
    const isUsed = await this.#hasNews()
    if (!this.fits(snapshot) || signs.isSignedIn) return undefined
    if (obstacle && obstacle.code !== 'unsupported_auth_method') return undefined
    if (isUsed) return { snapshot: await this.#browser.lookAfterAct() }
    if (this.#waitedFor !== snapshot.document && offersInField(snapshot)) {
      this.#waitedFor = snapshot.document
      if (await this.#hasNewsWithin(IN_FIELD_MS)) return { snapshot: await this.#browser.lookAfterAct() }
    }
    const control = passkeyControlOf(snapshot)
    if (!control) return undefined
    const press = toChoice(control, 'auth_method')
    const key = `${placeOf(snapshot)} ${press.label}`
    if (this.#pressed.has(key)) return undefined
    this.#pressed.add(key)
    this.#looksAfterPress = 0
    return { press }
  }

  /** For a page that accepts nothing but passkeys: it may still be busy with ours. */
  async afterPress(): Promise<PageSnapshot | undefined> {
    if (this.#pressed.size === 0 || this.#looksAfterPress++ >= MAX_LOOKS_AFTER_PRESS) return undefined
    return this.#browser.lookForChange(2_000)
  }

  refusal({ code, message, text }: Obstacle): LoginFailed {
    if (!this.#hasAnswered) return new LoginFailed(code, message, text)
    return new LoginFailed(
      'credentials_invalid',
      'The website did not accept the stored passkey; delete it from the credential, and add another one',
      text,
    )
  }

  /** Asks the person about an offer to make a passkey. Undefined if the page makes none. */
  async offered(snapshot: PageSnapshot, reading: Reading): Promise<PageSnapshot | undefined> {
    if (!this.#isWelcome || this.#hasOffered || !isOf(snapshot.url, this.#hosts)) return undefined
    const offer = passkeyOfferOf(snapshot)
    if (!offer) return undefined
    this.#hasOffered = true
    const [create, skip] = [toChoice(offer.create, 'other'), toChoice(offer.skip, 'other')]
    return this.#whileCreating(async () => {
      const answer = await this.#conversation.ask(
        {
          externalAction:
            'The website offers to make a passkey. With it, the next logins need no password and no code. Make one, or go on without.',
          choices: [create, skip],
        },
        { snapshot, reading, isLeft: true, until: () => this.#hasMade() },
      )
      if ('changed' in answer) return answer.changed
      if (!answer.choice) return this.#browser.lookNow()
      await this.#browser.click(answer.choice.element)
      if (answer.choice.element === offer.create) await this.#hasNewsWithin(ANSWER_MS)
      return this.#browser.lookAfterAct()
    })
  }

  /** The person is signed in. Goes on until they have added a passkey, if somebody asked for that. */
  async add(): Promise<void> {
    const { passkeys, isAttended } = this.#options
    if (passkeys?.isWanted !== true || !isAttended || this.#made.size > 0) return
    await this.#whileCreating(async () => {
      const snapshot = await this.#browser.lookNow()
      await this.#conversation.ask(
        {
          externalAction:
            'You are signed in. Now add a passkey: open the security settings of the website in the browser, and add one there. The login ends when the website has it.',
          choices: [finish()],
        },
        { snapshot, reading: readPage(snapshot), until: () => this.#hasMade(), isAnyPage: true },
      )
    })
    // The website still stores what it was told.
    await this.#browser.lookAfterAct()
  }

  get #isWelcome(): boolean {
    const { passkeys, isAttended } = this.#options
    return isAttended && passkeys?.areKept === true
  }

  async #whileCreating<T>(work: () => Promise<T>): Promise<T> {
    this.#mayCreate = true
    await this.#look()
    try {
      return await work()
    } finally {
      this.#mayCreate = false
      // If the browser is gone, there is nothing to take back.
      await this.#look().catch(() => {})
    }
  }

  async #hasMade(): Promise<boolean> {
    await this.#look()
    return this.#made.size > 0
  }

  async #hasNewsWithin(ms: number): Promise<boolean> {
    const endsAt = performance.now() + ms
    do {
      if (await this.#hasNews()) return true
      await this.#browser.lookForChange(LOOK_MS)
    } while (performance.now() < endsAt)
    return false
  }

  /** Whether a key was made or used since the last look. */
  async #hasNews(): Promise<boolean> {
    const { used, made } = await this.#look()
    return used.length > 0 || made.length > 0
  }

  /** Stores what is new at once: the website knows of it, whatever becomes of the login. */
  async #look(): Promise<PasskeyNews> {
    const { pageActions, signal, passkeys } = this.#options
    const { keys } = await pageActions.passkeys(
      {
        keys: this.#isArmed ? [...this.#keys.values()] : [],
        hosts: [...this.#hosts],
        may_create: this.#mayCreate,
      },
      signal,
    )
    const made = keys.filter((key) => !this.#keys.has(key.credential_id))
    const used = keys.filter(
      ({ credential_id: id, sign_count: count }) => count > (this.#counts.get(id) ?? count),
    )
    for (const key of made) {
      this.#keys.set(key.credential_id, key)
      this.#made.set(key.credential_id, key)
    }
    for (const key of keys) this.#counts.set(key.credential_id, key.sign_count)
    if (used.length > 0) this.#hasAnswered = true
    if (used.length > 0 || made.length > 0) await passkeys?.onChange({ made, used })
    return { made, used }
  }
}

/** It belongs to no element: it ends the login as it is. */
function finish(): ReadChoice {
  return {
    kind: 'other',
    label: 'Finish without a passkey',
    description: undefined,
    mfaType: undefined,
    target: undefined,
    provider: undefined,
    element: NO_ELEMENT,
    option: undefined,
  }
}

const NO_ELEMENT: ReadChoice['element'] = {
  ref: '',
  frame: 0,
  tag: 'other',
  type: '',
  role: '',
  name: '',
  id: '',
  autocomplete: '',
  input_mode: '',
  pattern: '',
  max_length: null,
  placeholder: '',
  title: '',
  class_name: '',
  data: '',
  label: '',
  text: '',
  near: '',
  description: '',
  icon: '',
  href: '',
  group: 0,
  box: [0, 0, 0, 0],
  is_visible: false,
  is_enabled: false,
  is_read_only: false,
  is_required: false,
  is_invalid: false,
  is_checked: false,
  is_focused: false,
  has_value: false,
  is_in_dialog: false,
  region: '',
  options: [],
  has_choice: false,
  selector: '',
  xpath: '',
}
