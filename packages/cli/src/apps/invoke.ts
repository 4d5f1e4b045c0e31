// Runs an action, follows its logs, and prints its result. Ctrl-C cancels it and ends its sessions.
import type { Api } from '../api/api.ts'
import type { Context } from '../command/context.ts'
import { readFile, readText } from '../command/values.ts'
import { exitCodes } from '../basics/exit-codes.ts'
import { ExitWith, usage } from '../basics/failure.ts'
import { print, printLine } from '../output/print.ts'
import { write } from '../output/terminal.ts'
import { harmless } from '../output/value-text.ts'
import { isJson, printEvent, printLog, type AppEvent, type Invocation } from './events.ts'

const CANCEL_TIMEOUT_MS = 30_000
const isOver = (status: string) => status === 'succeeded' || status === 'failed'

export async function run(context: Context): Promise<void> {
  const { options, terminal, format, signal } = context
  const api = await context.api()
  const payload = payloadOf(options)
  const [app, action] = context.args as [string, string]
  const invocation = await api.call<Invocation>('createInvocation', {
    body: {
      app_name: app,
      action_name: action,
      version: (options['version'] as string | undefined) ?? 'latest',
      async: options['sync'] !== true,
      ...(payload !== undefined && { payload }),
      ...(options['asyncTimeout'] !== undefined && { async_timeout_seconds: options['asyncTimeout'] }),
    },
    // A second one would run the action twice.
    maxRetries: 0,
  })
  if (isOver(invocation.status)) return showResult(context, invocation)
  if (options['follow'] === false) return print(terminal, invocation, { format })
  if (isJson(context)) await printLine(terminal, invocation)
  let result: Invocation
  try {
    result = await follow(context, api, invocation.id)
  } catch (error) {
    if (signal.aborted) await cancel(context, invocation.id)
    throw error
  }
  await showResult(context, result)
}

async function follow(context: Context, api: Api, id: string): Promise<Invocation> {
  const since = context.options['since'] as string | undefined
  for await (const event of api.events<AppEvent>('followInvocation', {
    params: { id },
    query: { since: since ?? '' },
  })) {
    if (isJson(context)) await printEvent(context, event)
    else if (event.event === 'log') await printLog(context, event)
    if (event.invocation && isOver(event.invocation.status)) return event.invocation
  }
  context.signal.throwIfAborted()
  // The stream ended early, as when a server stops; the invocation goes on.
  const seen = await api.call<Invocation>('getInvocation', { params: { id } })
  if (isOver(seen.status)) return seen
  return follow(context, api, id)
}

async function cancel({ api, terminal }: Context, id: string): Promise<void> {
  terminal.note('Cancelling the invocation')
  const own = (await api()).within(AbortSignal.timeout(CANCEL_TIMEOUT_MS))
  const output = JSON.stringify({ error: 'Invocation cancelled by user' })
  try {
    await own.call('updateInvocation', { params: { id }, body: { status: 'failed', output } })
    await own.call('deleteInvocationBrowsers', { params: { id } })
    terminal.note(`Cancelled ${id}`)
  } catch (error) {
    // It ended before.
    if ((error as { status?: number }).status === 409) return
    terminal.err.write(
      `Cannot cancel ${id}: ${(error as Error).message}\nTry: berth invoke update ${id} --status failed\n`,
    )
  }
}

async function showResult(
  context: Context,
  { id, status, status_reason: reason, output }: Invocation,
): Promise<void> {
  const { terminal, options } = context
  const isFailed = status === 'failed'
  if (isJson(context)) {
    if (options['sync'] === true)
      await print(terminal, { id, status, status_reason: reason, output }, context)
  } else if (output !== undefined && output !== '') await write(terminal.out, `${pretty(output)}\n`)
  if (!isFailed) return
  terminal.err.write(
    `${terminal.paintError('red', 'Error:')} The invocation ${id} failed${reason ? `: ${reason}` : ''}\n`,
  )
  throw new ExitWith(exitCodes.failed)
}

function pretty(output: string): string {
  try {
    const value = JSON.parse(output) as unknown
    return typeof value === 'string' ? harmless(value) : JSON.stringify(value, null, 2)
  } catch {
    return harmless(output)
  }
}

function payloadOf(options: Context['options']): string | undefined {
  const file = options['payloadFile'] as string | undefined
  const given = options['payload'] as string | undefined
  if (file !== undefined && given !== undefined)
    throw usage('Cannot use --payload and --payload-file together')
  const text = file === undefined ? (given === undefined ? undefined : readText(given)) : readFile(file)
  if (text === undefined || text.trim() === '') return text === undefined ? undefined : ''
  try {
    JSON.parse(text)
  } catch (error) {
    throw usage(
      `Cannot send the payload: it is no JSON: ${(error as Error).message}`,
      `Write it like --payload '{"url":"https://example.com"}'`,
    )
  }
  return text
}
