// Shared by all operations on the instance of a session. Each is served below /browsers/{id} for API keys, and below
// the session's base_url for the session's own token.
import { Type, type TObject, type TProperties } from 'typebox'
import { operation, type Row } from './operation.ts'
import { idOrName } from './schema.ts'

/** Path of `base_url`. */
export const SESSION_BASE = '/browser/kernel'

const sessionParam = { id: idOrName('browser session') }

/** Errors that every control operation may return. */
const commonErrors = ['not_found', 'conflict'] as const

type ControlRow<P extends TProperties> = Omit<Row, 'path' | 'params' | 'effect' | 'sessionPath'> & {
  /** Path below the session, such as /fs/read_file. */
  readonly at: `/${string}`
  readonly params?: P
}

export function control<const R extends ControlRow<P>, P extends TProperties = {}>(row: R) {
  const { at, params, errors = [], ...rest } = row
  return operation({
    ...rest,
    path: `/browsers/{id}${at}`,
    sessionPath: at,
    params: Type.Object({ ...sessionParam, ...(params as P) }) as unknown as TObject<
      typeof sessionParam & ParamsOf<R>
    >,
    effect: 'control',
    errors: [...commonErrors, ...errors],
  } as unknown as Omit<R, 'at' | 'params' | 'body' | 'errors'> &
    Omit<Row, 'params' | 'body'> &
    BodyOf<R> & { params: TObject<typeof sessionParam & ParamsOf<R>> })
}

type BodyOf<R> = R extends { body: infer B extends TObject } ? { readonly body: B } : {}
type ParamsOf<R> = R extends { params: infer P extends TProperties } ? P : {}

export const Ok = Type.Object(
  { ok: Type.Boolean({ description: 'Whether the action succeeded' }) },
  { title: 'OkResponse' },
)

/** Path of a file or directory in the instance. */
export const absolutePath = (description: string) =>
  Type.String({ pattern: '^/[^\\u0000]*$', maxLength: 4096, examples: ['/home/kernel/example'], description })
