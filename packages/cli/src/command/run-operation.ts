// Calls the operation of a verb and shows its answer.
import { exitCodes } from '../basics/exit-codes.ts'
import { describe, ExitWith, usage } from '../basics/failure.ts'
import { print, printLine } from '../output/print.ts'
import { confirm } from '../output/questions.ts'
import { clean } from '../output/value-text.ts'
import type { Context } from './context.ts'
import { listOptions } from './list-options.ts'
import { saveAnswer } from './save-answer.ts'

export async function runOperation(context: Context): Promise<void> {
  const { operation, args } = context
  if (!operation) throw new Error('The verb has no operation')
  await ask(context)
  const last = args.at(-1)
  if (Array.isArray(last)) return each(context, last as readonly string[])
  switch (operation.kind) {
    case 'json':
      return operation.paging ? list(context) : one(context)
    case 'empty':
    case 'text':
    case 'html':
      return one(context)
    case 'binary':
    case 'relay':
      return binary(context)
    case 'events':
      return events(context)
  }
}

async function ask({ verb, terminal, isYes, args }: Context): Promise<void> {
  if (!verb.confirm) return
  const what = args.flat().filter(Boolean).join(', ')
  await confirm(terminal, {
    question: `${verb.summary ?? 'Go on'}: ${clean(what)}?`,
    isYes,
    goesOnWithoutTerminal: verb.confirm === 'terminal',
  })
}

async function one(context: Context): Promise<void> {
  const { operation, terminal, format, verb } = context
  const api = await context.api()
  let answer: unknown
  try {
    answer = await api.call(operation!.id, bodyFor(context))
  } catch (error) {
    if (!isGone(context, error)) throw error
    terminal.note(`${nameOf(context)} does not exist; there is nothing to delete`)
    return
  }
  if (verb.wait && context.options['wait'] === true)
    answer = await (await verb.wait.load()).wait(context, answer)
  if (operation!.kind === 'empty' || (answer === null && !context.hasFormat)) {
    const text = verb.done ?? 'Done'
    terminal.note(text.replaceAll('{id}', nameOf(context)))
    return
  }
  await print(terminal, answer, { format, columns: context.columns, wide: context.wide })
  if (verb.endsBySuccess && !(answer as { success: boolean }).success) throw new ExitWith(exitCodes.failed)
}

/** Deleting what is gone already is a success. */
function isGone({ operation }: Context, error: unknown): boolean {
  return operation?.method === 'DELETE' && (error as { status?: number }).status === 404
}

const nameOf = ({ args }: Context) => clean(args.filter(Boolean).flat().join(' '))

function bodyFor({ operation, input }: Context) {
  const { params, query, body } = input
  const isSent = operation!.body.length > 0 && operation!.method !== 'GET'
  return { params, query, ...(isSent && { body }) }
}

/** Several ids: each is done, whatever happens to the others. */
async function each(context: Context, ids: readonly string[]): Promise<void> {
  const param = context.operation!.params.at(-1)!
  let failed: number | undefined
  for (const id of ids) {
    const input = { ...context.input, params: { ...context.input.params, [param]: id } }
    try {
      await one({ ...context, input, args: [...context.args.slice(0, -1), id] })
    } catch (error) {
      if (ids.length === 1 || context.signal.aborted) throw error
      const { text, exitCode } = describe(error)
      context.terminal.err.write(`${clean(id)}: ${text}\n`)
      failed ??= exitCode
    }
  }
  if (failed !== undefined) throw new ExitWith(failed)
}

async function list(context: Context): Promise<void> {
  const { operation, input, terminal, format, columns, wide } = context
  const api = await context.api()
  const { isAll, query } = listOptions(context)
  const call = { params: input.params, query: { ...input.query, ...query } }
  if (isAll) {
    await print(terminal, await api.all(operation!.id, call), { format, columns, wide })
    return
  }
  const { items, hasMore, next } = await api.page(operation!.id, call)
  await print(terminal, items, { format, columns, wide })
  if (!hasMore) return
  const flag = operation!.paging === 'token' ? `--page-token ${next}` : `--offset ${next}`
  terminal.note(terminal.paintError('dim', `There are more: add ${flag}, or --all`))
}

async function binary(context: Context): Promise<void> {
  const { operation, input, options, terminal } = context
  const path = (options['output'] ?? options['to'] ?? options['outputFile']) as string | undefined
  if (path === undefined && terminal.out.isTTY)
    throw usage('Cannot write a file to a terminal', 'Say where with --output FILE, or redirect stdout')
  const api = await context.api()
  const { params, query, body } = input
  const response = await api.answer(operation!.id, {
    params,
    query,
    ...(operation!.method === 'POST' && { body }),
  })
  await saveAnswer(context, response, path ?? '-')
}

async function events(context: Context): Promise<void> {
  const { operation, input, terminal } = context
  const api = await context.api()
  for await (const event of api.events(operation!.id, { params: input.params, query: input.query })) {
    await printLine(terminal, event)
  }
  if (context.signal.aborted) throw new ExitWith(exitCodes.interrupted)
}
