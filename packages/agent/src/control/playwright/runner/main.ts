// Runs the code of tenants in a separate process. The agent starts it, sends it tasks, and ends it.
import { inspect } from 'node:util'
import type { Page } from 'playwright-core'
import {
  FRAME,
  MAX_OUTPUT_BYTES,
  MAX_RESULT_BYTES,
  type Failure,
  type Tab,
  type Task,
} from '../conversation.ts'
import { openChannel } from './channel.ts'
import { BadCode, compile } from './code.ts'
import { leaveDialogs, setOthers, scopeAt, targetIdOf } from './page.ts'

const { send, startRun } = openChannel({
  maxOutputBytes: MAX_OUTPUT_BYTES,
  onFrame: ({ kind, payload }) => {
    const message = JSON.parse(payload.toString()) as unknown
    // SAFETY: the agent sends these.
    if (kind === FRAME.others) setOthers(message as readonly string[])
    else void run(message as Task)
  },
})

async function run(task: Task): Promise<void> {
  startRun()
  try {
    const execute = compile(task.code)
    const { page, context, browser, isNew } = await scopeAt(task)
    // Asked while the code runs, so that no call takes longer for it.
    const told = task.target === undefined ? tell(page, isNew) : undefined
    send(FRAME.begun, '')
    const json = toJson(await execute(page, context, browser))
    await told
    send(FRAME.result, json)
  } catch (error) {
    send(FRAME.failure, JSON.stringify(failureOf(error)))
  } finally {
    leaveDialogs()
  }
}

/** Tells the agent which tab the code uses; a browser that is gone has none. */
async function tell(page: Page, created: boolean): Promise<void> {
  const targetId = await targetIdOf(page).catch(() => undefined)
  if (targetId === undefined) return
  const tab: Tab = { target_id: targetId, created }
  send(FRAME.tab, JSON.stringify(tab))
}

function toJson(value: unknown): string {
  if (value === undefined) return 'null'
  let json: string | undefined
  try {
    json = JSON.stringify(value)
  } catch (error) {
    throw new Error(`Cannot return the result: it is not JSON (${firstLine((error as Error).message)})`, {
      cause: error,
    })
  }
  if (json === undefined) throw new Error(`Cannot return the result: a ${typeof value} is not JSON`)
  const length = Buffer.byteLength(json)
  if (length > MAX_RESULT_BYTES) {
    throw new Error(`Cannot return the result: ${length} bytes of JSON are more than ${MAX_RESULT_BYTES}`)
  }
  return json
}

function failureOf(error: unknown): Failure {
  if (error instanceof BadCode) return { error: error.message, stack: '' }
  if (error instanceof Error)
    return { error: cut(error.message || error.name), stack: cut(error.stack ?? '') }
  return { error: cut(`The code threw ${inspect(error)}`), stack: '' }
}

const MAX_TEXT_LENGTH = 64 * 1024
const cut = (text: string) => text.slice(0, MAX_TEXT_LENGTH)
const firstLine = (text: string) => text.split('\n', 1)[0]!
