// Makes commands from the rows of the table.
import type { Command } from 'commander'
import { findOperation } from '../api/operations.ts'
import type { ApiOperation } from '../api/operation-table.ts'
import { usage } from '../basics/failure.ts'
import type { Globals } from './globals.ts'
import type { Context, Run } from './context.ts'
import { bodyFrom, flagsFor, missingFields, setAt, type FieldFlag } from './flags.ts'
import { addCommonFlags, formatOf } from './common-flags.ts'
import { isNoun, type Noun, type Verb } from './rows.ts'

export interface Builder {
  /** Runs a command, with everything that is the same for all. */
  execute(run: (globals: Globals) => Promise<void>, options: Record<string, unknown>): Promise<void>
}

interface Columns {
  readonly columns: string | undefined
  readonly wide: string | undefined
}

export function fillNoun(command: Command, noun: Noun, builder: Builder, above?: Columns): Command {
  command.description(noun.summary)
  // The root command has named its own already.
  if (command.aliases().length === 0) command.aliases([...(noun.aliases ?? [])])
  const shape = { columns: noun.columns ?? above?.columns, wide: noun.wide ?? above?.wide }
  if (noun.itself)
    fillVerb(command, { name: noun.name, summary: noun.summary, ...noun.itself }, builder, shape)
  for (const row of noun.verbs) {
    const child = command.command(row.name, { hidden: !isNoun(row) && row.isHidden === true })
    if (isNoun(row)) fillNoun(child, row, builder, shape)
    else fillVerb(child.aliases([...(row.aliases ?? [])]), row, builder, shape)
  }
  return command
}

export function fillVerb(command: Command, verb: Verb, builder: Builder, noun: Columns): void {
  const operation = verb.op === undefined ? undefined : findOperation(verb.op)
  const args =
    verb.args ?? (operation?.params ?? []).map((name) => `<${name.replaceAll('_', '-')}>`).join(' ')
  if (args) command.arguments(args)
  const argNames = [...args.matchAll(/[<[]([\w-]+)/g)].map(([, name]) => name!.replaceAll('-', '_'))
  const flags = flagsFor(verb, operation, argNames)
  command
    .summary(verb.summary ?? operation?.summary ?? '')
    .description(verb.summary ?? operation?.summary ?? '')
  for (const { option } of flags.fields) command.addOption(option)
  for (const option of flags.others) command.addOption(option)
  addCommonFlags(command, verb, operation)
  if (verb.notes) command.addHelpText('after', `\n${verb.notes}`)

  command.action(async (...given: unknown[]) => {
    const values = given.slice(0, argNames.length) as Context['args']
    const options = command.optsWithGlobals<Record<string, unknown>>()
    await builder.execute(async (globals) => {
      const input = inputOf({ command, verb, operation, argNames, values, flags: flags.fields, options })
      const { format, hasFormat } = formatOf(options, verb, operation)
      const context: Context = {
        ...globals,
        verb,
        operation,
        args: values,
        options,
        input,
        format,
        hasFormat,
        isYes: options['yes'] === true,
        columns: verb.columns ?? noun.columns,
        wide: verb.wide ?? noun.wide,
      }
      const run: Run = verb.run ? (await verb.run()).run : (await import('./run-operation.ts')).runOperation
      await run(context)
    }, options)
  })
}

interface Given {
  readonly command: Command
  readonly verb: Verb
  readonly operation: ApiOperation | undefined
  readonly argNames: readonly string[]
  readonly values: Context['args']
  readonly flags: readonly FieldFlag[]
  readonly options: Record<string, unknown>
}

function inputOf({ command, verb, operation, argNames, values, flags, options }: Given): Context['input'] {
  const params: Record<string, string> = {}
  const query: Record<string, unknown> = {}
  const body: Record<string, unknown> = { ...verb.body, ...bodyFrom(options['body']) }
  if (!operation) return { params, query, body }
  argNames.forEach((name, at) => {
    const value = values[at]
    if (value === undefined) return
    if (operation.params.includes(name)) params[name] = value as string
    else if (operation.query.some(({ path }) => path[0] === name)) query[name] = value
    else if (operation.body.some(({ path }) => path[0] === name)) body[name] = value
  })
  for (const { option, place, path, always } of flags) {
    if (command.getOptionValueSource(option.attributeName()) !== 'cli') continue
    const value: unknown = options[option.attributeName()]
    // `--x` and `--no-x` share one value, and only one of them was given.
    if (always === undefined && option.isBoolean() && option.negate !== (value === false)) continue
    setAt(place === 'query' ? query : body, path, always === undefined ? value : always)
  }
  if (!verb.run) refuseMissing(operation, { query, body })
  return { params, query, body }
}

export function refuseMissing(
  operation: ApiOperation,
  values: { query: Record<string, unknown>; body: Record<string, unknown> },
): void {
  const missing = missingFields(operation, values)
  if (missing.length === 0) return
  throw usage(
    `Cannot ${operation.summary[0]!.toLowerCase()}${operation.summary.slice(1)}: ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing`,
    'Add --help to see the flags',
  )
}
