// Actions that are one operation: their input is turned into its parameters, and its answer is shown.
import type { Operation } from '@berth/contracts/operation'
import { compact, facts, list } from '../core/answer.ts'
import { MAX_TEXT } from '../core/text.ts'
import type { Input } from '../core/api.ts'
import type { Action, Args } from '../core/tool.ts'
import { done, listAnswer } from './paging.ts'

interface Plain {
  readonly does: string
  readonly operation: Operation
  readonly requires?: readonly string[]
  readonly input?: (args: Args) => Input
  /** What is said when the operation answers nothing. */
  readonly said?: (args: Args) => object
}

export const act = ({ does, operation, requires = [], input, said }: Plain): Action => ({
  does,
  needs: [operation],
  requires,
  run: async (args, { api }) => {
    const answer = (await api.call(operation, input?.(args) ?? {})) as unknown
    if (typeof answer !== 'object' || answer === null) return done(said?.(args) ?? { done: true })
    const [only, ...others] = Object.entries(answer).filter(([, field]) => Array.isArray(field))
    // A list in an object is cut like any other.
    if (only && others.length === 0 && JSON.stringify(answer).length > MAX_TEXT) {
      return [list({ items: only[1] as unknown[], hasMore: false }, 0)]
    }
    return [facts(compact(answer))]
  },
})

export const lists = (
  operation: Operation,
  does: string,
  options: {
    readonly query?: (args: Args) => object
    readonly params?: (args: Args) => Readonly<Record<string, string>>
    readonly requires?: readonly string[]
  } = {},
): Action => ({
  does,
  needs: [operation],
  requires: options.requires ?? [],
  run: (args, context) =>
    listAnswer(context, operation, args, {
      query: options.query?.(args) ?? {},
      params: options.params?.(args) ?? {},
    }),
})
