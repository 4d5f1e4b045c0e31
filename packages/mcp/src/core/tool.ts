// What a tool is. A tool is either one act, or several acts on one kind of resource that its input `action` chooses
// from: one entry in the list of an agent costs less than ten.
import type { TProperties, TSchema } from 'typebox'
import type { Operation } from '@berth/contracts/operation'
import type { Answer } from './answer.ts'
import type { Api } from './api.ts'
import type { Caller } from './caller.ts'
import type { Secrets } from './secrets.ts'

export const toolsets = [
  'browsers',
  'page',
  'computer',
  'playwright',
  'shell',
  'files',
  'browser_curl',
  'webmcp',
  'handover',
  'replays',
  'profiles',
  'browser_pools',
  'proxies',
  'extensions',
  'auth_connections',
  'credentials',
  'credential_providers',
  'apps',
  'projects',
  'api_keys',
  'docs',
] as const
export type Toolset = (typeof toolsets)[number]

/** Reports how far a call is, to clients that asked for it. */
export type Progress = (message: string) => Promise<void>

export interface Context {
  /** For the project that the call names; it ends when the client gives the call up. */
  readonly api: Api
  readonly caller: Caller
  /** What must not reach the model. */
  readonly secrets: Secrets
  readonly signal: AbortSignal
  readonly progress: Progress
}

/** Checked against the schema of the tool before it gets here. */
// oxlint-disable-next-line typescript/no-explicit-any -- each tool knows its own fields; the schema has checked them
export type Args = any

export type Run = (args: Args, context: Context) => Promise<Answer>

interface Common {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly toolset: Toolset
  /** Whether calls may name a project: not for what belongs to the organisation. */
  readonly ofProject?: false
  readonly input: TProperties
}

export interface SingleTool extends Common {
  /** All of them; without one, every key may call the tool. */
  readonly needs: readonly Operation[]
  readonly hints?: Hints
  readonly run: Run
}

export interface Hints {
  readonly readOnly?: boolean
  readonly destructive?: boolean
  readonly idempotent?: boolean
}

export interface Action {
  /** For the description of the tool. */
  readonly does: string
  readonly needs: readonly Operation[]
  /** Inputs that this action cannot do without. */
  readonly requires?: readonly string[]
  readonly run: Run
}

export interface ManyTool extends Common {
  readonly actions: Readonly<Record<string, Action>>
}

export type Tool = SingleTool | ManyTool

export const isMany = (tool: Tool): tool is ManyTool => 'actions' in tool

/** Keeps the types of a tool's own fields apart from those of others. */
export const tool = (row: SingleTool): SingleTool => row
export const manyTool = (row: ManyTool): ManyTool => row

export type Inputs = Readonly<Record<string, TSchema>>
