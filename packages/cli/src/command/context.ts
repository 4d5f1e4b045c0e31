// What a command gets to work with.
import type { Api } from '../api/api.ts'
import type { ApiOperation } from '../api/operation-table.ts'
import type { Format } from '../output/formats.ts'
import type { Terminal } from '../output/terminal.ts'
import type { Verb } from './rows.ts'

export interface Input {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  readonly body: Readonly<Record<string, unknown>>
}

export interface Context {
  readonly verb: Verb
  readonly operation: ApiOperation | undefined
  /** The arguments in their order; an array for one that repeats. */
  readonly args: readonly (string | readonly string[] | undefined)[]
  /** All flags, by their long name in camel case. */
  readonly options: Readonly<Record<string, unknown>>
  readonly input: Input
  readonly terminal: Terminal
  readonly format: Format
  /** Whether -o was given. */
  readonly hasFormat: boolean
  readonly isYes: boolean
  /** Ctrl-C. */
  readonly signal: AbortSignal
  readonly columns: string | undefined
  readonly wide: string | undefined
  readonly api: () => Promise<Api>
  /** The name of the context that --context gives. */
  readonly contextName: string | undefined
}

export type Run = (context: Context) => Promise<void>

export const firstArg = ({ args }: Context): string => args[0] as string
