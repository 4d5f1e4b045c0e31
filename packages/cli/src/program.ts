// The root command. Only the noun that is used is loaded: a start for --help reads no table and no contract.
import { Command, CommanderError } from 'commander'
import { addGlobalFlags } from './command/common-flags.ts'
import { nouns, type NounEntry } from './nouns.ts'
import { VERSION } from './basics/version.ts'
import type { Globals } from './command/globals.ts'

/** Loads every noun: for completions and tests. */
export const ALL = '*'

export type Execute = (
  run: (globals: Globals) => Promise<void>,
  options: Record<string, unknown>,
) => Promise<void>

/** `which`: the noun to load. */
export async function makeProgram(execute: Execute, which: string | undefined): Promise<Command> {
  const program = new Command('berth')
  program
    .description('The command line of Berth, a self-hosted browser cloud')
    .version(VERSION, '-v, --version', 'Print the version')
    .helpOption('-h, --help', 'Print help')
    .helpCommand('help [command]', 'Print the help of a command')
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'Error: ')) })
    .configureHelp({ sortSubcommands: false, showGlobalOptions: false })
    .addHelpText('after', AFTER)
  addGlobalFlags(program)
  for (const entry of nouns) {
    const command = program.command(entry.name).helpGroup(entry.group)
    command
      .summary(entry.summary)
      .description(entry.summary)
      .aliases([...(entry.aliases ?? [])])
    if (which === ALL || isNamed(entry, which)) await load(entry, command, execute)
  }
  return program
}

async function load(entry: NounEntry, command: Command, execute: Execute): Promise<void> {
  const { noun } = await entry.load()
  const { fillNoun } = await import('./command/build.ts')
  fillNoun(command, noun, { execute })
}

const isNamed = ({ name, aliases = [] }: NounEntry, text: string | undefined) =>
  text !== undefined && (name === text || aliases.includes(text))

const VALUE_FLAGS = new Set(['--context', '--project', '--log-level'])

/** The noun in the arguments: the first word that is no flag and no value of one. */
export function nounIn(args: readonly string[]): string | undefined {
  for (let at = 0; at < args.length; at++) {
    const word = args[at]!
    if (VALUE_FLAGS.has(word)) at++
    else if (word === 'help') continue
    else if (!word.startsWith('-')) return word
  }
  return undefined
}

/** `help a b` as `a b --help`, because commands are loaded by their place. */
export function asGiven(args: readonly string[]): string[] {
  return args[0] === 'help' && args.length > 1 ? [...args.slice(1), '--help'] : [...args]
}

const AFTER = `
Start with "berth up", or "berth login" for a server that runs elsewhere.
Every command has --help. The guide is docs/cli.md, and /docs/guide/cli on your server.`

export { CommanderError }
