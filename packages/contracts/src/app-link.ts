// What the server and the agent of an instance that builds or runs an app agree on. All of it is below /apps, over
// connections of purpose `api`:
//
//   PUT    /apps/source                 204, the zip archive of a deployment, unpacked where its app is
//   POST   /apps/build                  200, BuildOrder; lines of JSON, each a BuildLine, the last one not a log
//   GET    /apps/files                  200, all files of the app as they are after the build, packed
//   PUT    /apps/files                  204, the same the other way
//   PUT    /apps/setup                  204, AppSetup: from now on it can be invoked
//   POST   /apps/runs/{id}?app=&action= 204, the payload as it is: an invocation begins. 409: it did before
//   GET    /apps/runs/{id}?after=N      200, RunRecords as soon as there are any, or after a while. 404: not known
//   DELETE /apps/runs/{id}              204, ends it if it is not over, and forgets it
import { Type, type Static } from 'typebox'
import { MAX_NAME_LENGTH, MAX_ACTIONS, MAX_APPS } from './apps.ts'
import { PRINTABLE, Strict } from './schema.ts'

export const runtimes = ['node', 'python'] as const
export type Runtime = (typeof runtimes)[number]

export interface GitSource {
  readonly url: string
  readonly ref: string
  /** Directory in it; the whole of it when there is none. */
  readonly path?: string
  readonly token?: string
}

export interface BuildOrder {
  readonly entrypoint: string
  /** Fetched first; without it the source is there already. */
  readonly git?: GitSource
  /** npm's own program, as the instance sees it; undefined where the host has none that it could see. */
  readonly npm?: string
  readonly npmRegistry?: string
  readonly pythonIndex: string
  /** Of the user: install scripts see these. */
  readonly env: Readonly<Record<string, string>>
  /** Ours: what the app sees besides. */
  readonly ownEnv: Readonly<Record<string, string>>
  readonly memoryMb: number
}

export interface AppSetup {
  readonly runtime: Runtime
  readonly entrypoint: string
  readonly env: Readonly<Record<string, string>>
  /** Of one invocation. */
  readonly memoryMb: number
  /** How many processes wait, with the app imported, for their invocation. */
  readonly spares: number
}

const name = Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH, pattern: PRINTABLE })

/** What the app's own copy of the client says it has. */
export const AppRegistry = Type.Object({
  apps: Type.Array(
    Type.Object({ name, actions: Type.Array(Type.Object({ name }), { maxItems: MAX_ACTIONS }) }),
    { maxItems: MAX_APPS },
  ),
})
export type AppRegistry = Static<typeof AppRegistry>

export const MAX_REASON_LENGTH = 4_000

/** One of these fields. */
export const BuildLine = Strict({
  log: Type.Optional(Type.String()),
  built: Type.Optional(
    Type.Object({
      runtime: Type.Unsafe<Runtime>({ type: 'string', enum: [...runtimes] }),
      registry: AppRegistry,
    }),
  ),
  failed: Type.Optional(Type.String()),
})
export type BuildLine = Static<typeof BuildLine>

/** `n` grows by one; the last has an end. */
export const RunRecords = Strict({
  records: Type.Array(
    Strict({
      n: Type.Integer({ minimum: 1 }),
      log: Type.Optional(Type.String()),
      end: Type.Optional(
        Strict({
          /** JSON of what the action returned; without it the action failed. */
          output: Type.Optional(Type.String()),
          reason: Type.Optional(Type.String()),
        }),
      ),
    }),
  ),
})
export type RunRecords = Static<typeof RunRecords>
export type RunRecord = RunRecords['records'][number]

/** What an invocation may print in all; beyond it, it is ended. */
export const MAX_RUN_LOG_BYTES = 16 * 1024 * 1024
/** What of it is held for a server that is slow to take it; the invocation waits then. */
export const MAX_HELD_LOG_BYTES = 1024 * 1024
export const RECORDS_WAIT_MS = 20_000
