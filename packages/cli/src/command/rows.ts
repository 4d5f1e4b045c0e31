// The form of the table of commands: nouns with verbs. Most verbs are one operation of the API, and need nothing else.
import type { Run } from './context.ts'

/** How the text of a flag becomes a value; see values.ts. */
export type ValueKind =
  | 'string'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'strings'
  | 'map'
  | 'json'
  | 'json-file'
  | 'file-text'
  | 'viewport'
  | 'point'
  | 'comma-list'
  | 'extension'
  | 'telemetry'
  | 'reference'
  | 'base64'
  | 'null-map'
  | 'secret'

export interface FlagRow {
  /** As the command framework writes them: `-t, --timeout <seconds>`. */
  readonly flags: string
  /** The field of the body or the query that it sets, such as `profile.id`. Without one the command reads it itself. */
  readonly field?: string
  /** By default that of the field. */
  readonly as?: ValueKind
  /** A switch that sets the field to this. */
  readonly always?: unknown
  readonly help?: string
  readonly isRequired?: true
  readonly isHidden?: true
}

export interface Verb {
  readonly name: string
  readonly aliases?: readonly string[]
  /** The id of the operation in the contract. */
  readonly op?: string
  /** By default the parameters of the path. */
  readonly args?: string
  readonly summary?: string
  /** Further names of fields, as other command lines call them, and flags of our own. Every field has one anyway. */
  readonly flags?: readonly FlagRow[]
  /** Fields that get no flag of their own name. */
  readonly without?: readonly string[]
  /** Fields that the verb sets, unless a flag says otherwise. */
  readonly body?: Readonly<Record<string, unknown>>
  readonly columns?: string
  readonly wide?: string
  /** always: a question, and without a terminal an error that names --yes. terminal: a question on a terminal only. */
  readonly confirm?: 'always' | 'terminal'
  /** Said when it is done and the answer is empty; `{id}` is the first argument. */
  readonly done?: string
  /** The answer says in `success` how it went; the command ends with 1 if that is false. */
  readonly endsBySuccess?: true
  /** Shown in help below the flags. */
  readonly notes?: string
  readonly isHidden?: true
  /** Replaces the call of the operation. */
  readonly run?: () => Promise<{ readonly run: Run }>
  /** Adds --wait, which calls it with the answer. */
  readonly wait?: { readonly help: string; readonly load: () => Promise<{ readonly wait: Wait }> }
}

export type Wait = (context: Parameters<Run>[0], answer: unknown) => Promise<unknown>

export interface Noun {
  readonly name: string
  readonly aliases?: readonly string[]
  readonly summary: string
  readonly columns?: string
  readonly wide?: string
  readonly verbs: readonly (Verb | Noun)[]
  /** What the noun does without a verb. */
  readonly itself?: Omit<Verb, 'name' | 'aliases'>
}

export const isNoun = (row: Verb | Noun): row is Noun => 'verbs' in row
