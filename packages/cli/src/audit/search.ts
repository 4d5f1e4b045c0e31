import type { Context } from '../command/context.ts'
import { listOptions } from '../command/list-options.ts'
import { print } from '../output/print.ts'

const DAY_MS = 24 * 3600_000

/** The last day by default, and without what only reads. */
export function rangeOf(
  { input, options }: Pick<Context, 'input' | 'options'>,
  now = Date.now(),
): Record<string, unknown> {
  const { start, end, exclude_method: given, ...query } = input.query
  const isNarrowed = query['method'] !== undefined || options['includeGet'] === true
  const excluded = [...((given as string[] | undefined) ?? []), ...(isNarrowed ? [] : ['GET'])]
  return {
    ...query,
    start: start ?? new Date(now - DAY_MS).toISOString(),
    end: end ?? new Date(now).toISOString(),
    ...(excluded.length > 0 && { exclude_method: excluded }),
  }
}

export async function run(context: Context): Promise<void> {
  const { terminal, format, columns, wide } = context
  const query = rangeOf(context)
  const api = await context.api()
  if (listOptions(context).isAll) {
    await print(terminal, await api.all('listAuditLogs', { query }), { format, columns, wide })
    return
  }
  const { items, next } = await api.page('listAuditLogs', { query })
  await print(terminal, items, { format, columns, wide, none: 'No entries' })
  if (next !== undefined) terminal.note(terminal.paintError('dim', 'There are more: add --limit, or --all'))
}
