// Functions of ours that run inside a session, beside its browser, where Playwright is. They are sent as text, so they
// may use nothing but their arguments. References to elements and listeners for downloads live there, too: whichever
// server gets the next request finds them.
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { executePlaywrightCode } from '@berth/contracts/playwright'
import { data } from '../core/answer.ts'
import { ToolFailure } from '../core/run.ts'
import { cut, visible } from '../core/text.ts'
import type { Context } from '../core/tool.ts'

export interface Scope {
  readonly page: Page
  readonly context: BrowserContext
  readonly browser: Browser
}

export interface InSession<A, R> {
  readonly sessionId: string
  /** The tab of the caller; by default the one that was used last. */
  readonly executor: string | undefined
  readonly code: (scope: Scope, args: A) => Promise<R>
  readonly args: A
  readonly seconds: number
  /** Whether the elements may be gone. Otherwise an unknown reference is refused at once, and not after a time limit. */
  readonly mayBeGone?: boolean
}

const MAX_ERROR = 2_000

export async function inSession<A, R>(
  context: Context,
  { sessionId, executor, code, args, seconds, mayBeGone = false }: InSession<A, R>,
): Promise<R> {
  // JSON is JavaScript, also where a text has quotes or line separators.
  const call = `return await (${code.toString()})({ page, context, browser }, ${JSON.stringify(args)})`
  const text = mayBeGone ? call : `${checkOf(refsIn(args))}${call}`
  const answer = await context.api.call(executePlaywrightCode, {
    params: { id: sessionId },
    body: { code: text, timeout_sec: seconds, ...(executor !== undefined && { executor }) },
    workSeconds: seconds,
  })
  // SAFETY: it is what our function returned. What comes from the page in it is only ever text.
  if (answer.success) return answer.result as R
  const [, unknown] = /UNKNOWN_REF (\w+)/.exec(answer.error ?? '') ?? []
  if (unknown !== undefined) {
    throw new ToolFailure(
      `Cannot find the element ${unknown}: it is gone, or no snapshot of this page is remembered. Call browser_snapshot again [code: unknown_ref]`,
    )
  }
  const error = cut(context.secrets.mask(visible(answer.error ?? '')), 0, MAX_ERROR)
  throw new ToolFailure('The browser could not do this. What it said:', [data(error, 'the browser')])
}

/** Every reference in what a function gets. */
function refsIn(args: unknown): string[] {
  if (typeof args !== 'object' || args === null) return []
  return Object.entries(args).flatMap(([name, value]: [string, unknown]) =>
    name === 'ref' && typeof value === 'string' ? [value] : refsIn(value),
  )
}

function checkOf(refs: readonly string[]): string {
  return `for (const ref of ${JSON.stringify(refs)})
    if (!(await page.getByRef(ref).count().catch(() => 0))) throw new Error('UNKNOWN_REF ' + ref)
  `
}
