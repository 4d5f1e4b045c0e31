// Logins at sites that are none, for instances that are none: the first word of the domain says what the site is like.
// For tests of what surrounds logins, which would otherwise each start a Chromium.
//
//   code     asks for a code after the password        push    waits for another device, or for a code
//   choice   asks which way first                      slow    never comes to an end
//   captcha  fails                                     out     a health check finds it logged out
//   maybe    a health check cannot tell
//
// Any other one asks for a name and a password. The password is "right"; codes are 123456.
import { randomUUID } from 'node:crypto'
import type {
  AskedChoice,
  AskedField,
  CheckOutcome,
  FailureCode,
  LoginOptions,
  LoginOutcome,
  Question,
  Requirement,
  Submission,
} from '@berth/login/run'
import type { LoginEngine } from '../../logins/connections/engine.ts'

const PUSH_MS = 300
const RIGHT = 'right'
const CODE = '123456'

const nothing = () => Promise.reject(new Error('A fake instance has no page'))

export const fakeLogins: LoginEngine = {
  handsOf: (session) => {
    const awake = session.stayAwake()
    return {
      look: nothing,
      visit: nothing,
      act: nothing,
      hide: () => Promise.resolve(),
      [Symbol.dispose]: () => awake[Symbol.dispose](),
    }
  },
  runLogin: (options) => new FakeLogin(options).run(),
  runCheck: ({ domain, signal }) => {
    signal.throwIfAborted()
    const result = ({ out: 'out', maybe: 'inconclusive' } as const)[kindOf(domain)] ?? 'in'
    const outcome: CheckOutcome = { result, reason: `It is ${result}`, url: `https://${domain}/` }
    return Promise.resolve(outcome)
  },
}

const kindOf = (domain: string) => domain.split('.')[0]!

/** Ends the login as it says. */
class Failed extends Error {
  readonly code: FailureCode

  constructor(code: FailureCode) {
    super(`It failed: ${code}`)
    this.code = code
  }
}

class FakeLogin {
  readonly #options: LoginOptions
  readonly #needed: Requirement[] = []
  readonly #typed: Record<string, string> = {}

  constructor(options: LoginOptions) {
    this.#options = options
  }

  async run(): Promise<LoginOutcome> {
    const { domain, onState } = this.#options
    onState({ step: 'DISCOVERING' })
    try {
      await this.#go(kindOf(domain))
    } catch (error) {
      if (!(error instanceof Failed)) throw error
      return { isSuccess: false, code: error.code, message: error.message, websiteError: undefined }
    }
    const url = `https://${domain}/`
    const signs = { url, status: 200, markers: [] }
    return {
      isSuccess: true,
      postLoginUrl: `${url}home`,
      loginUrl: `${url}login`,
      plan: undefined,
      checks: { version: 1, url, signedIn: signs, signedOut: signs },
      requirements: this.#needed,
      values: this.#typed,
      ssoProvider: undefined,
    }
  }

  async #go(kind: string): Promise<void> {
    if (kind === 'captcha') throw new Failed('captcha_blocked')
    if (kind === 'slow') await this.#until(undefined)
    if (kind === 'choice') await this.#choose()
    await this.#signIn()
    if (kind === 'code') await this.#ask([code('sms')], ({ values }) => values['code'] === CODE, 'sms_code')
    if (kind === 'push') await this.#approve()
  }

  async #signIn(): Promise<void> {
    const { known, onState } = this.#options
    const password = known?.values['password']
    if (password !== undefined) {
      onState({ step: 'SUBMITTING' })
      this.#needed.push('identifier', 'password')
      if (password === RIGHT) return
    }
    await this.#ask(
      [email, secret],
      ({ values }) => {
        this.#typed['email'] = values['email'] ?? ''
        this.#typed['password'] = values['password'] ?? ''
        return values['password'] === RIGHT
      },
      'identifier',
      'password',
    )
  }

  async #ask(
    fields: readonly AskedField[],
    isRight: (submission: Submission) => boolean,
    ...needs: Requirement[]
  ): Promise<void> {
    if (!this.#options.isAttended) throw new Failed('customer_input_required')
    this.#needed.push(...needs)
    let websiteError: string | undefined
    for (;;) {
      const submission = await this.#submitted({ ...question, fields, websiteError })
      if (isRight(submission)) return
      websiteError = 'That is not right'
    }
  }

  async #choose(): Promise<void> {
    if (!this.#options.isAttended) throw new Failed('account_choice_required')
    this.#needed.push('choice')
    await this.#submitted({ ...question, fields: [email], choices: [google, byText, account] })
  }

  async #approve(): Promise<void> {
    const { isAttended, onState, signal } = this.#options
    if (!isAttended) throw new Failed('external_action_required')
    this.#needed.push('external_action')
    const asked = {
      ...question,
      interactionId: randomUUID(),
      fields: [code('totp')],
      externalAction: 'Approve the request on your phone',
    }
    onState({ step: 'AWAITING_EXTERNAL_ACTION', question: asked })
    const approved = new AbortController()
    await Promise.race([
      this.#until(PUSH_MS),
      this.#options.submitted(asked, AbortSignal.any([signal, approved.signal])).catch(() => {}),
    ])
    approved.abort()
    signal.throwIfAborted()
    onState({ step: 'SUBMITTING' })
  }

  async #submitted(asked: Question): Promise<Submission> {
    const { onState, submitted, signal } = this.#options
    const now = { ...asked, interactionId: randomUUID() }
    onState({ step: 'AWAITING_INPUT', question: now })
    const submission = await submitted(now, signal)
    onState({ step: 'SUBMITTING' })
    return submission
  }

  /** Or until it is told to stop. */
  #until(ms: number | undefined): Promise<void> {
    const { signal } = this.#options
    return new Promise((resolve, reject) => {
      if (ms !== undefined) setTimeout(resolve, ms)
      signal.addEventListener('abort', () => reject(signal.reason as Error))
      if (signal.aborted) reject(signal.reason as Error)
    })
  }
}

const question = {
  interactionId: '',
  fields: [],
  choices: [],
  externalAction: undefined,
  websiteError: undefined,
} satisfies Question

const email: AskedField = {
  id: 'email',
  ref: 'email',
  kind: 'identifier',
  inputType: 'email',
  label: 'E-mail address',
  placeholder: 'you@example.com',
  hint: undefined,
  isRequired: true,
  linkedMfaType: undefined,
  replacesExisting: false,
  selector: '#email',
}
const secret: AskedField = {
  ...email,
  id: 'password',
  ref: 'password',
  kind: 'password',
  inputType: 'password',
  label: 'Password',
  placeholder: undefined,
  selector: '#password',
}
const code = (linkedMfaType: 'sms' | 'totp'): AskedField => ({
  ...secret,
  id: 'code',
  ref: 'code',
  kind: 'code',
  inputType: 'code',
  label: 'Code',
  hint: linkedMfaType === 'sms' ? 'Sent to •••• 92' : undefined,
  linkedMfaType,
  selector: '#code',
})

const google: AskedChoice = {
  id: 'google',
  kind: 'sso_provider',
  label: 'Continue with Google',
  description: undefined,
  mfaType: undefined,
  target: undefined,
  provider: 'google',
  selector: '#google',
  xpath: '//*[@id="google"]',
}
const byText: AskedChoice = {
  ...google,
  id: 'text',
  kind: 'mfa_method',
  label: 'Text message',
  mfaType: 'sms',
  target: '•••• 92',
  provider: undefined,
}
const account: AskedChoice = {
  ...google,
  id: 'work',
  kind: 'account',
  label: 'Work account',
  provider: undefined,
}
