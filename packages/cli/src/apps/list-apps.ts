import type { Context } from '../command/context.ts'
import { listOptions } from '../command/list-options.ts'
import { print } from '../output/print.ts'

interface App {
  readonly actions: readonly { readonly name: string }[]
}

/** Actions have a schema, too; a table only names them. */
export async function run(context: Context): Promise<void> {
  const { input, terminal, format, columns, wide } = context
  const api = await context.api()
  const { isAll, query } = listOptions(context)
  const call = { query: { ...input.query, ...query } }
  const page = isAll ? undefined : await api.page('listApps', call)
  const apps = (page?.items ?? (await api.all('listApps', call))) as readonly App[]
  const isText = format === 'table' || format === 'wide'
  const shown = isText ? apps.map((app) => ({ ...app, actions: app.actions.map(({ name }) => name) })) : apps
  await print(terminal, shown, {
    format,
    columns,
    wide,
    none: 'There are no apps; deploy one with "berth deploy"',
  })
  if (page?.hasMore)
    terminal.note(terminal.paintError('dim', `There are more: add --offset ${page.next}, or --all`))
}
