// Captchas that somebody solves besides a person: the picture or the key goes out, and the answer is put into the page.
import type { PageSnapshot } from '@berth/contracts/page-snapshot'
import { captchaOf } from '../rules/captcha-kind.ts'
import type { CaptchaTask } from '../run/captcha.ts'
import type { LoginOptions } from '../run/run.ts'
import type { Browser } from './browser.ts'

/** Each costs its user something, and a wrong answer makes the next captcha harder. */
const MAX_TRIES = 2
const MAX_ANSWER_LENGTH = 8_000

export class Solver {
  readonly #options: Pick<LoginOptions, 'solveCaptcha' | 'pageActions' | 'signal'>
  readonly #browser: Browser
  readonly #hosts: readonly string[]
  #tries = 0
  #hasAnswered = false

  constructor(options: LoginOptions, browser: Browser, hosts: readonly string[]) {
    this.#options = options
    this.#browser = browser
    this.#hosts = hosts
  }

  /** Whether an answer of the solver was submitted, so that the website may be refusing that. */
  get hasAnswered(): boolean {
    return this.#hasAnswered
  }

  get canTry(): boolean {
    return this.#options.solveCaptcha !== undefined && this.#tries < MAX_TRIES
  }

  /** Whether the answer is in the page now, so that the form can be submitted. `tell` notes what was done. */
  async solve(snapshot: PageSnapshot, tell: (did: string) => void): Promise<boolean> {
    const { solveCaptcha, signal } = this.#options
    if (!solveCaptcha || !this.canTry) return false
    this.#tries++
    const { kind, siteKey, field, box } = captchaOf(snapshot)
    const task: CaptchaTask = {
      kind,
      siteKey,
      pageUrl: withoutQuery(snapshot.url),
      picture: box && (await this.#photo(box)),
    }
    const answer = await solveCaptcha(task, signal)
    if (!answer) {
      tell(`asked the solver for the captcha (${kind}), which has no answer`)
      return false
    }
    tell(`asked the solver for the captcha (${kind}), which has an answer`)
    this.#hasAnswered = true
    const hosts = [...this.#hosts]
    if ('text' in answer) {
      const value = answer.text.slice(0, MAX_ANSWER_LENGTH)
      if (!field) return false
      const { result } = await this.#browser.act({ act: 'fill', refs: [field.ref], value, hosts })
      return result === 'done'
    }
    const value = answer.token.slice(0, MAX_ANSWER_LENGTH)
    const { result } = await this.#browser.act({ act: 'solve', value, hosts })
    return result === 'done'
  }

  async #photo(box: [number, number, number, number]): Promise<string | undefined> {
    const { pageActions, signal } = this.#options
    return (await pageActions.photo?.({ box }, signal))?.jpeg ?? undefined
  }
}

function withoutQuery(address: string): string {
  const url = URL.parse(address)
  return url ? url.origin + url.pathname : ''
}
