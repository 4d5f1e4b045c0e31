// Flags that mean the same in every command.
import { type Command, Option } from 'commander'
import type { ApiOperation } from '../api/operation-table.ts'
import { usage } from '../basics/failure.ts'
import { FORMATS, type Format } from '../output/formats.ts'
import type { Verb } from './rows.ts'

export const COMMON = 'Common options:'

export function addGlobalFlags(command: Command): void {
  for (const option of globalFlags()) command.addOption(option)
}

function globalFlags(): Option[] {
  return [
    new Option('--context <name>', 'The server to use, by the name of its context'),
    new Option('--project <id-or-name>', 'The project to use'),
    new Option('-q, --quiet', 'Say nothing but the answer and errors'),
    new Option('--no-color', 'No colours; so does NO_COLOR'),
    new Option('--log-level <level>', 'Accepted for compatibility').hideHelp(),
  ]
}

export function addCommonFlags(command: Command, verb: Verb, operation: ApiOperation | undefined): void {
  const add = (option: Option) => {
    const isTaken = command.options.some(
      ({ long, short }) => long === option.long && (short === option.short || option.short === undefined),
    )
    if (isTaken) return
    // A flag of the command keeps its letter.
    const isShortTaken =
      option.short !== undefined && command.options.some(({ short }) => short === option.short)
    const free = isShortTaken ? new Option(option.flags.replace(/^-\w, /, ''), option.description) : option
    if (command.options.some(({ long }) => long === free.long)) return
    if (option.hidden) free.hideHelp()
    command.addOption(free.helpGroup(COMMON))
  }
  if (operation?.kind === 'binary') {
    add(new Option('-o, --output <file>', 'Where to write it; - is stdout'))
    add(new Option('--to <file>', 'The same as --output'))
  } else if (!hasOwnOutput(command)) {
    add(new Option('-o, --output <format>', `How to print: ${FORMATS.join(', ')}`))
  } else {
    add(new Option('--format <format>', `How to print: ${FORMATS.join(', ')}`))
  }
  if (operation?.paging) {
    add(new Option('--all', 'Every page'))
    if (operation.paging === 'offset') {
      add(new Option('--page <number>', 'Which page, from 1'))
      add(new Option('--per-page <number>', 'Items of a page'))
    }
  }
  if (operation && operation.body.length > 0 && operation.kind !== 'binary')
    add(
      new Option(
        '--body <json>',
        'The whole body as JSON, @FILE, or - for stdin; flags win over it',
      ).hideHelp(operation.body.length < 4),
    )
  if (verb.confirm) add(new Option('-y, --yes', 'Do not ask'))
  // People say it to whatever deletes, also where nothing is asked.
  else if (operation?.method === 'DELETE') add(new Option('-y, --yes').hideHelp())
  if (verb.wait) add(new Option('--wait', verb.wait.help))
  for (const option of globalFlags()) add(option)
}

const hasOwnOutput = (command: Command) => command.options.some(({ long }) => long === '--output')

export interface Chosen {
  readonly format: Format
  readonly hasFormat: boolean
}

export function formatOf(
  options: Record<string, unknown>,
  verb: Verb,
  operation: ApiOperation | undefined,
): Chosen {
  const isFile = operation?.kind === 'binary' || verb.flags?.some(({ flags }) => flags.includes('--output'))
  const given = options[isFile ? 'format' : 'output']
  if (given === undefined) return { format: 'table', hasFormat: false }
  if ((FORMATS as readonly unknown[]).includes(given)) return { format: given as Format, hasFormat: true }
  throw usage(`Cannot print as "${given as string}"`, `Use one of: ${FORMATS.join(', ')}`)
}
