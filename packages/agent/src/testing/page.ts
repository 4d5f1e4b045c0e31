import type { CdpConnection } from '../chromium/cdp-connection.ts'
import { attachToFirstPage } from '../chromium/settle.ts'

/** What an expression gives in the first page, promises awaited. */
export async function evaluate(cdp: CdpConnection, expression: string): Promise<unknown> {
  const { sessionId } = await attachToFirstPage(cdp)
  const options = { expression, returnByValue: true, awaitPromise: true }
  const { result, exceptionDetails } = await cdp.call<{
    result: { value?: unknown }
    exceptionDetails?: { text: string }
  }>('Runtime.evaluate', options, sessionId)
  if (exceptionDetails) throw new Error(`${exceptionDetails.text} ${JSON.stringify(result)}`)
  return result.value
}
