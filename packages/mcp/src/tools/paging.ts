import { Type, type TProperties } from 'typebox'
import type { Operation } from '@berth/contracts/operation'
import { facts, list, type Answer } from '../core/answer.ts'
import type { Args, Context } from '../core/tool.ts'

export const pageFields: TProperties = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'For lists: how many' }),
  ),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, default: 0, description: 'For lists: next_offset of the answer before' }),
  ),
}

export const search = Type.Optional(
  Type.String({ minLength: 1, maxLength: 255, description: 'For lists: a text to find' }),
)

/** One page of a list. `toShown` leaves out what a list does not need. */
export async function listAnswer(
  { api }: Pick<Context, 'api'>,
  operation: Operation,
  args: Args,
  {
    query = {},
    params = {},
    toShown = (item) => item,
  }: {
    query?: object
    params?: Readonly<Record<string, string>>
    toShown?: (item: Record<string, unknown>) => unknown
  } = {},
): Promise<Answer> {
  const offset: number = args.offset ?? 0
  const page = await api.page(operation, { params, query: { limit: args.limit ?? 20, offset, ...query } })
  const items = (page.items as unknown as Record<string, unknown>[]).map(toShown)
  return [list({ ...page, items }, offset)]
}

export const done = (what: object): Answer => [facts(what)]

/** Only what was given: an undefined field is not the same as none. */
export function given<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  // SAFETY: what is undefined is filtered out.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
