// A CDP client that sends anything, accepts any answer, and stores everything it receives.
import assert from 'node:assert/strict'
import { CdpClient, type Closing } from '../fixtures/cdp.ts'

/** The outcome of a command: an answer, a refusal, or the end of the connection. */
export interface Outcome {
  readonly result?: Record<string, unknown>
  readonly error?: string
}

export class HostileClient {
  readonly #cdp: CdpClient

  private constructor(cdp: CdpClient) {
    this.#cdp = cdp
  }

  static async open(url: string, transcript: string[] = []): Promise<HostileClient> {
    return new HostileClient(await CdpClient.open(url, (text) => void transcript.push(text)))
  }

  closed(): Promise<Closing> {
    return this.#cdp.closed()
  }

  /** Only silence is a failure. */
  async send(method: string, params: object = {}, sessionId?: string): Promise<Outcome> {
    try {
      return { result: await this.#cdp.call(method, params, { ...(sessionId && { sessionId }) }) }
    } catch (error) {
      const { message } = error as Error
      assert.doesNotMatch(message, /^No answer/, `${message}: ${JSON.stringify(params).slice(0, 500)}`)
      return { error: message }
    }
  }

  /** For commands that must succeed. */
  async call<T = Record<string, unknown>>(
    method: string,
    params: object = {},
    sessionId?: string,
  ): Promise<T> {
    return this.#cdp.call<T>(method, params, { ...(sessionId && { sessionId }) })
  }

  /** Opens a new page and returns its CDP session. */
  async newPage(options: { browserContextId?: string } = {}): Promise<string> {
    const { targetId } = await this.call('Target.createTarget', { url: 'about:blank', ...options })
    const { sessionId } = await this.call<{ sessionId: string }>('Target.attachToTarget', {
      targetId,
      flatten: true,
    })
    return sessionId
  }

  async closePage(page: string): Promise<void> {
    const { result } = await this.send('Target.getTargetInfo', {}, page)
    const target = result?.['targetInfo'] as { targetId: string } | undefined
    if (target) await this.send('Target.closeTarget', { targetId: target.targetId })
  }

  /** The value of an expression, with promises awaited; undefined if the page cannot answer. */
  async evaluate(page: string, expression: string): Promise<unknown> {
    const options = { expression, returnByValue: true, awaitPromise: true, timeout: 5_000 }
    const { result } = await this.send('Runtime.evaluate', options, page)
    return (result?.['result'] as { value?: unknown } | undefined)?.value
  }

  /** Waits until the page has loaded or failed, and reads it. */
  async visit(page: string, url: string): Promise<string> {
    await this.send('Page.enable', {}, page)
    const { result } = await this.send('Page.navigate', { url }, page)
    if (result?.['errorText'] === undefined && result?.['isDownload'] !== true) {
      await this.evaluate(
        page,
        `new Promise((resolve) =>
           document.readyState === 'complete' ? resolve() : addEventListener('load', resolve))`,
      )
    }
    return String(await this.evaluate(page, 'document.documentElement.outerHTML.slice(0, 100000)'))
  }

  close(): void {
    this.#cdp.terminate()
  }
}
