// Pages of lists: by offset, as the API has them, or by number.
import { usage } from '../basics/failure.ts'
import type { Context } from './context.ts'

export interface ListOptions {
  readonly isAll: boolean
  readonly query: { readonly limit?: number; readonly offset?: number }
}

const MAX_PER_PAGE = 100
const DEFAULT_PER_PAGE = 20

export function listOptions({ options }: Pick<Context, 'options'>): ListOptions {
  const page = positive(options['page'], '--page')
  const perPage = positive(options['perPage'], '--per-page')
  const isAll = options['all'] === true
  if (page === undefined && perPage === undefined) return { isAll, query: {} }
  if (isAll && page !== undefined) throw usage('Cannot use --all and --page together')
  if (perPage !== undefined && perPage > MAX_PER_PAGE)
    throw usage(
      `Cannot use --per-page ${perPage}: a page has at most ${MAX_PER_PAGE} items`,
      'Use --all for everything',
    )
  const limit = perPage ?? DEFAULT_PER_PAGE
  return { isAll, query: { limit, ...(page !== undefined && { offset: (page - 1) * limit }) } }
}

function positive(value: unknown, flag: string): number | undefined {
  if (value === undefined) return undefined
  const text = value as string
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw usage(`Cannot use ${flag} "${text}": it must be a whole number from 1`)
}
