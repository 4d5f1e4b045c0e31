// Asks the solver of a connection for the answer to a captcha. Whatever goes wrong there, the login goes on without it.
import type { CaptchaSolverRequest } from '@berth/contracts/auth-connections'
import type { CaptchaAnswer, CaptchaTask, SolveCaptcha } from '@berth/login/run/captcha'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import type { HookAddress, Hooks } from '../hooks/hook.ts'

/** People solve them, too. */
const ANSWER_MS = 120_000
const MAX_ANSWER_BYTES = 64 * 1024
const MAX_ANSWER_LENGTH = 8_000

const contextOf = (connectionId: string) => `auth_connections/sealed_captcha_solver/${connectionId}`

export class CaptchaSolvers {
  readonly #box: SealedBox
  readonly #hooks: Hooks

  constructor({ box, hooks }: { box: SealedBox; hooks: Hooks }) {
    this.#box = box
    this.#hooks = hooks
  }

  /** Throws invalid input that names the field. */
  seal(connectionId: string, { url, secret }: CaptchaSolverRequest): Buffer {
    const address: HookAddress = { url: this.#hooks.readUrl('captcha_solver.url', url), secret }
    return this.#box.seal(JSON.stringify(address), contextOf(connectionId))
  }

  /** `onTrouble`: why there is no answer. */
  solverOf(
    { id, sealed_captcha_solver: sealed }: { id: string; sealed_captcha_solver: Buffer | null },
    onTrouble: (error: unknown) => void,
  ): SolveCaptcha | undefined {
    if (sealed === null) return undefined
    return async (task, signal) => {
      try {
        // SAFETY: we sealed it above.
        const address = JSON.parse(this.#box.open(sealed, contextOf(id))) as HookAddress
        return await this.#ask(address, task, signal)
      } catch (error) {
        signal.throwIfAborted()
        onTrouble(error)
        return undefined
      }
    }
  }

  async #ask(
    address: HookAddress,
    { kind, siteKey, pageUrl, picture }: CaptchaTask,
    signal: AbortSignal,
  ): Promise<CaptchaAnswer | undefined> {
    const message = {
      type: 'login.captcha',
      data: {
        kind,
        page_url: pageUrl,
        ...(siteKey !== undefined && { site_key: siteKey }),
        ...(picture !== undefined && { picture }),
      },
    }
    const options = { timeoutMs: ANSWER_MS, maxBytes: MAX_ANSWER_BYTES, signal }
    const { status, json } = await this.#hooks.ask(address, message, options)
    if (status !== 200 || typeof json !== 'object' || json === null) return undefined
    const { token, text } = json as { token?: unknown; text?: unknown }
    if (isAnswer(token)) return { token }
    return isAnswer(text) ? { text } : undefined
  }
}

const isAnswer = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MAX_ANSWER_LENGTH
