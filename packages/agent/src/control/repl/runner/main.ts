// The process of a REPL. The agent starts it, sends it code, and ends it.
import { inspect } from 'node:util'
import { isNativeError } from 'node:util/types'
import { MAX_REPL_TEXT_BYTES } from '@berth/contracts/repl'
import { FRAME, type Failure, type Task } from '../../playwright/conversation.ts'
import { openChannel } from '../../playwright/runner/channel.ts'
import { leaveDialogs, scopeAt, setOthers, type Scope } from '../../playwright/runner/page.ts'
import { Evaluator, Thrown } from './evaluate.ts'
import { show } from './show.ts'

const { send, startRun } = openChannel({
  maxOutputBytes: MAX_REPL_TEXT_BYTES,
  onFrame: ({ kind, payload }) => {
    const message = JSON.parse(payload.toString()) as unknown
    // SAFETY: the agent sends these.
    if (kind === FRAME.others) setOthers(message as readonly string[])
    else void run(message as Task)
  },
})

const evaluator = Evaluator.open().then((opened) => {
  opened.globals['display'] = (value: unknown) => show(send, FRAME.display, value)
  return opened
})

async function run(task: Task): Promise<void> {
  startRun()
  try {
    const { globals } = await evaluator
    await connect(task, globals)
    send(FRAME.begun, '')
    const value = await (await evaluator).evaluate(task.code)
    if (value !== undefined) show(send, FRAME.value, value)
    send(FRAME.result, '')
  } catch (error) {
    send(FRAME.failure, JSON.stringify(failureOf(error)))
  } finally {
    leaveDialogs()
  }
}

let known: Scope | undefined

/** Code that only computes runs without a browser, too. */
async function connect(task: Task, globals: Record<string, unknown>): Promise<void> {
  let scope: Scope
  try {
    scope = await scopeAt(task)
  } catch (error) {
    const why = (error as Error).message.split('\n', 1)[0]
    process.stderr.write(`page, context and browser are not connected: ${why}\n`)
    return
  }
  const { page, context, browser } = scope
  if (known?.browser !== browser) {
    if (known) process.stderr.write('Chromium was started again: page, context and browser are new\n')
    Object.assign(globals, { page, context, browser })
  } else if (globals['page'] === known.page && known.page.isClosed()) globals['page'] = page
  else return
  known = scope
}

function failureOf(error: unknown): Failure {
  try {
    return describe(error)
  } catch {
    return { error: 'The code threw something that cannot be shown', stack: '' }
  }
}

function describe(error: unknown): Failure {
  // Such as an endless wait for a promise that nothing can settle any more.
  if (!(error instanceof Thrown)) return { error: cut(`Error: ${(error as Error).message}`), stack: '' }
  const { thrown, place } = error
  // It comes from another context, so `instanceof Error` would not know it.
  if (!isNativeError(thrown)) return { error: cut(`The code threw ${inspect(thrown)}`), stack: '' }
  const where = place ? ` (line ${place.line}, column ${place.column})` : ''
  const what = thrown.message === '' ? thrown.name : `${thrown.name}: ${thrown.message}`
  return { error: cut(what + where), stack: place ? '' : cut(ownLines(thrown.stack ?? '')) }
}

/** The stack down to the code of the call: what called it is ours. */
function ownLines(stack: string): string {
  const lines = stack.split('\n')
  const end = lines.findIndex((line) => line.includes('(node:inspector'))
  return (end === -1 ? lines : lines.slice(0, end)).join('\n')
}

const MAX_TEXT_LENGTH = 64 * 1024
const cut = (text: string) => text.slice(0, MAX_TEXT_LENGTH)
