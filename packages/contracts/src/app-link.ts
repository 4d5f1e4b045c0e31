// The protocol between the server and the agent of an instance that builds or runs an app. All paths are below /apps
// and use connections of purpose `api`:
//
//   PUT    /apps/source                 204, uploads the zip archive of a deployment and unpacks it into the app directory
//   POST   /apps/build                  200, takes a BuildOrder, answers JSON lines of type BuildLine; the last line is the result
//   GET    /apps/files                  200, downloads all files of the built app as an archive
//   PUT    /apps/files                  204, uploads such an archive
//   PUT    /apps/setup                  204, takes an AppSetup; the app can be invoked afterwards
//   POST   /apps/runs/{id}?app=&action= 204, takes the raw payload and starts an invocation. 409 if it was started before
//   GET    /apps/runs/{id}?after=N      200, RunRecords as soon as one exists, or after RECORDS_WAIT_MS. 404 if unknown
//   DELETE /apps/runs/{id}              204, stops the invocation if it still runs, and deletes its records
import { Type, type Static } from 'typebox'
import { MAX_NAME_LENGTH, MAX_ACTIONS, MAX_APPS } from './apps.ts'
import { PRINTABLE, Strict } from './schema.ts'

export const runtimes = ['node', 'python'] as const
export type Runtime = (typeof runtimes)[number]

const Environment = Type.Unsafe<Readonly<Record<string, string>>>({
  type: 'object',
  additionalProperties: { type: 'string' },
})

export const GitSource = Strict({
  url: Type.String(),
  ref: Type.String(),
  /** Directory in the repository; the whole repository when omitted. */
  path: Type.Optional(Type.String()),
  token: Type.Optional(Type.String()),
})
export type GitSource = Static<typeof GitSource>

export const BuildOrder = Strict({
  entrypoint: Type.String(),
  /** The repository to fetch first. Omitted when the source was uploaded. */
  git: Type.Optional(GitSource),
  /** Path of npm's program inside the instance. Undefined when the host has no npm to share. */
  npm: Type.Optional(Type.String()),
  npmRegistry: Type.Optional(Type.String()),
  pythonIndex: Type.String(),
  /** The user's variables, which install scripts see too. */
  env: Environment,
  /** Variables that Berth adds for the app. */
  ownEnv: Environment,
  memoryMb: Type.Number({ minimum: 1 }),
})
export type BuildOrder = Static<typeof BuildOrder>

export const AppSetup = Strict({
  runtime: Type.Unsafe<Runtime>({ type: 'string', enum: [...runtimes] }),
  entrypoint: Type.String(),
  env: Environment,
  /** Limit for one invocation. */
  memoryMb: Type.Number({ minimum: 1 }),
  /** Number of idle processes that have already imported the app. */
  spares: Type.Integer({ minimum: 0 }),
})
export type AppSetup = Static<typeof AppSetup>

const name = Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH, pattern: PRINTABLE })

/** The apps and actions that the app's copy of the client has registered. */
export const AppRegistry = Type.Object({
  apps: Type.Array(
    Type.Object({ name, actions: Type.Array(Type.Object({ name }), { maxItems: MAX_ACTIONS }) }),
    { maxItems: MAX_APPS },
  ),
})
export type AppRegistry = Static<typeof AppRegistry>

export const MAX_REASON_LENGTH = 4_000

/** Has exactly one of these fields. */
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

/** `n` grows by one per record. The last record has an `end`. */
export const RunRecords = Strict({
  records: Type.Array(
    Strict({
      n: Type.Integer({ minimum: 1 }),
      log: Type.Optional(Type.String()),
      end: Type.Optional(
        Strict({
          /** The action's return value as JSON. Absent when the action failed. */
          output: Type.Optional(Type.String()),
          reason: Type.Optional(Type.String()),
        }),
      ),
    }),
  ),
})
export type RunRecords = Static<typeof RunRecords>
export type RunRecord = RunRecords['records'][number]

/** An invocation that prints more than this is stopped. */
export const MAX_RUN_LOG_BYTES = 16 * 1024 * 1024
/** The agent buffers this much for a slow server; then the invocation blocks. */
export const MAX_HELD_LOG_BYTES = 1024 * 1024
export const RECORDS_WAIT_MS = 20_000
