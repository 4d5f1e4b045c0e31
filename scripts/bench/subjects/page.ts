// The first page of a browser, ours or bare; a client attaches to it after connecting.
import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { Cdp } from './cdp.ts'

const WAIT_TIMEOUT_MS = 20_000

interface TargetInfo {
  readonly targetId: string
  readonly type: string
}

export class Page {
  readonly cdp: Cdp
  readonly sessionId: string

  private constructor(cdp: Cdp, sessionId: string) {
    this.cdp = cdp
    this.sessionId = sessionId
  }

  /** Connects and attaches. Every measured start ends when this page computes. */
  static async open(url: string): Promise<Page> {
    return Page.attach(await Cdp.open(url))
  }

  static async attach(cdp: Cdp): Promise<Page> {
    const targetId = await firstPageOf(cdp)
    const { sessionId } = await cdp.call<{ sessionId: string }>('Target.attachToTarget', {
      targetId,
      flatten: true,
    })
    const page = new Page(cdp, sessionId)
    assert.equal(await page.evaluate('1 + 1'), 2)
    return page
  }

  async evaluate(expression: string): Promise<unknown> {
    const { result } = await this.call<{ result: { value?: unknown } }>('Runtime.evaluate', {
      expression,
      returnByValue: true,
    })
    return result.value
  }

  /** Evaluates until the result is true. */
  async until(expression: string, wanted: unknown): Promise<void> {
    const startedAt = performance.now()
    for (;;) {
      // During a navigation there is no document to ask.
      const value = await this.evaluate(expression).catch(() => undefined)
      if (value === wanted) return
      const isLate = performance.now() - startedAt > WAIT_TIMEOUT_MS
      assert.ok(!isLate, `${expression} is ${String(value)}, but should be ${String(wanted)}`)
    }
  }

  call<Result>(method: string, params: object = {}): Promise<Result> {
    return this.cdp.call<Result>(method, params, this.sessionId)
  }

  close(): Promise<void> {
    return this.cdp.close()
  }
}

/** A Chromium that has just opened its port may have no page yet. */
async function firstPageOf(cdp: Cdp): Promise<string> {
  const startedAt = performance.now()
  for (;;) {
    const { targetInfos } = await cdp.call<{ targetInfos: TargetInfo[] }>('Target.getTargets')
    const page = targetInfos.find(({ type }) => type === 'page')
    if (page) return page.targetId
    assert.ok(performance.now() - startedAt < WAIT_TIMEOUT_MS, 'the browser has no page')
    await turn()
  }
}
