// HTTP authentication, where the browser asks instead of a page. Answers with known values, asks the user, or fails.
import type { PageSnapshot } from '@berth/contracts/page-snapshot'
import type { ReadField } from '../rules/reading.ts'
import type { Browser } from './browser.ts'
import type { Conversation } from './conversation.ts'
import { LoginFailed } from './failure.ts'
import { lacking, withheld } from './requirements.ts'
import type { Values } from './values.ts'

const MAX_REFUSALS = 5

interface Parts {
  readonly browser: Browser
  readonly conversation: Conversation
  readonly values: Values
  readonly isAttended: boolean
}

export class HttpLogin {
  readonly #parts: Parts
  readonly #fields = fields()
  #answers = 0

  constructor(parts: Parts) {
    this.#parts = parts
  }

  get hasAnswered(): boolean {
    return this.#answers > 0
  }

  /** Answers and loads the page again. */
  async answer(snapshot: PageSnapshot): Promise<PageSnapshot> {
    const { scheme, is_rejected: isRejected, origin } = snapshot.http_auth!
    this.#parts.values.enter(origin)
    if (!/^(basic|digest)$/i.test(scheme)) {
      throw new LoginFailed(
        'unsupported_auth_method',
        `Cannot log in: the website asks for HTTP authentication with the scheme "${scheme}"; only Basic and Digest are supported`,
      )
    }
    await this.#gather(isRejected && this.hasAnswered ? said(snapshot) : undefined, origin)
    const { browser, values } = this.#parts
    const [user, password] = this.#fields.map((field) => values.for(field) ?? '')
    await browser.hide(values.all)
    const { result } = await browser.act({
      act: 'authenticate',
      user: user!,
      value: password!,
      hosts: [...values.hostsOf(...this.#fields)],
    })
    if (result !== 'done') {
      throw new LoginFailed(
        'domain_not_allowed',
        'Cannot answer HTTP authentication: the page is not on an allowed domain; add it to allowed_domains if you trust it',
      )
    }
    this.#answers++
    for (const field of this.#fields) values.noteTyped(field, values.for(field) ?? '')
    return browser.visit(snapshot.url)
  }

  async #gather(refusal: string | undefined, origin: string): Promise<void> {
    const { values, isAttended, conversation } = this.#parts
    const wasRefused = refusal !== undefined
    if (wasRefused) {
      const message = 'The website rejected the user name or password (HTTP 401)'
      if (!isAttended) throw new LoginFailed('credentials_invalid', message)
      if (this.#answers >= MAX_REFUSALS) throw new LoginFailed('max_attempts_reached', message)
    }
    const missing = this.#fields.filter((field) => wasRefused || values.for(field) === undefined)
    if (missing.length === 0) return
    if (!isAttended) {
      throw missing.some((field) => values.isWithheld(field)) ? withheld(origin) : lacking(missing)
    }
    await conversation.ask(
      {
        fields: missing,
        refused: new Set(wasRefused ? missing.map(({ ref }) => ref) : []),
        optional: new Set(wasRefused ? ['username'] : []),
        websiteError: refusal,
      },
      undefined,
    )
  }
}

/** The text of the 401 page, if it has any. */
function said({ frames }: PageSnapshot): string {
  const line = frames[0]?.text.split('\n').find((each) => each.trim().length > 3)
  return line?.slice(0, 300) ?? 'Unauthorized'
}

function fields(): readonly ReadField[] {
  const common = { hint: undefined, isRequired: true, mfaType: undefined, elements: [noElement] }
  return [
    { ...common, kind: 'identifier', ref: 'username', inputType: 'text', label: 'User name' },
    { ...common, kind: 'password', ref: 'password', inputType: 'password', label: 'Password' },
  ]
}

// SAFETY: HTTP authentication has no element, and only these fields are read.
const noElement = { name: '', id: '', placeholder: '', selector: '' } as ReadField['elements'][number]
