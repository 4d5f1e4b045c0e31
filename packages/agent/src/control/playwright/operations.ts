import { Readable } from 'node:stream'
import { DEFAULT_EXECUTOR } from '@berth/contracts/playwright-executor'
import { checked } from '../../checks/check.ts'
import type { ControlOperation } from '../calls/operation.ts'
import type { Executed } from './executor.ts'
import type { Executors } from './executors.ts'
import type { Failure } from './conversation.ts'
import { checks } from './playwright.checks.ts'

const DEFAULT_SECONDS = 60

export function playwrightOperations(executors: Executors): readonly ControlOperation[] {
  return [
    {
      method: 'POST',
      path: '/playwright/execute',
      handle: async ({ body, signal }) => {
        const given = checked(checks.executePlaywrightCode, body)
        const { code, timeout_sec: seconds = DEFAULT_SECONDS, executor = DEFAULT_EXECUTOR } = given
        return answerOf(await executors.execute(executor, { code, timeoutMs: seconds * 1000, signal }))
      },
    },
    {
      method: 'GET',
      path: '/playwright/executors',
      handle: async () => ({ executors: await executors.list() }),
    },
    {
      method: 'DELETE',
      path: '/playwright/executors/{name}',
      handle: ({ params, query }) =>
        executors.delete(params['name']!, { closesTab: query.get('close_tab') === 'true' }),
    },
  ]
}

/** Passes the JSON of the result on unparsed, because parsing a large one would block the agent. */
function answerOf({ outcome, error, stdout, stderr, tab }: Executed) {
  const printed = { ...(stdout && { stdout }), ...(stderr && { stderr }) }
  if (outcome?.isSuccess) {
    const rest = JSON.stringify({ ...printed, ...(tab && { tab }) }).slice(1)
    const head = Buffer.from('{"success":true,"result":')
    const tail = Buffer.from(rest === '}' ? rest : `,${rest}`)
    const parts = [head, outcome.json, tail]
    const length = head.length + outcome.json.length + tail.length
    return { bytes: Readable.from(parts, { objectMode: false }), length }
  }
  const where = tab && { tab }
  if (!outcome) return { success: false, error, ...printed, ...where }
  const failure = JSON.parse(outcome.json.toString()) as Failure
  return { success: false, error: failure.error, ...printed, stderr: stderr + failure.stack, ...where }
}
