import { Readable } from 'node:stream'
import { checked } from '../../checks/check.ts'
import type { ControlOperation } from '../calls/operation.ts'
import type { Executor, Executed } from './executor.ts'
import type { Failure } from './conversation.ts'
import { checks } from './playwright.checks.ts'

const DEFAULT_SECONDS = 60

export function playwrightOperations(executor: Executor): readonly ControlOperation[] {
  return [
    {
      method: 'POST',
      path: '/playwright/execute',
      handle: async ({ body, signal }) => {
        const { code, timeout_sec: seconds = DEFAULT_SECONDS } = checked(checks.executePlaywrightCode, body)
        return answerOf(await executor.execute({ code, timeoutMs: seconds * 1000, signal }))
      },
    },
  ]
}

/** Passes the JSON of the result on unparsed, because parsing a large one would block the agent. */
function answerOf({ outcome, error, stdout, stderr }: Executed) {
  const printed = { ...(stdout && { stdout }), ...(stderr && { stderr }) }
  if (outcome?.isSuccess) {
    const rest = JSON.stringify(printed).slice(1)
    const head = Buffer.from('{"success":true,"result":')
    const tail = Buffer.from(rest === '}' ? rest : `,${rest}`)
    const parts = [head, outcome.json, tail]
    const length = head.length + outcome.json.length + tail.length
    return { bytes: Readable.from(parts, { objectMode: false }), length }
  }
  if (!outcome) return { success: false, error, ...printed }
  const failure = JSON.parse(outcome.json.toString()) as Failure
  return { success: false, error: failure.error, ...printed, stderr: stderr + failure.stack }
}
