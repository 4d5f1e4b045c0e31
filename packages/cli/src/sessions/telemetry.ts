// Events of a session: live, or those that are stored.
import { firstArg, type Context } from '../command/context.ts'
import { listOptions } from '../command/list-options.ts'
import { print, printLine } from '../output/print.ts'

interface TelemetryEvent {
  readonly seq: number
  readonly event: { readonly type: string; readonly category: string }
}

export async function run(context: Context): Promise<void> {
  if (context.operation!.id === 'streamTelemetry') await stream(context)
  else await stored(context)
}

/** Both filters are ours: the server sends every event. */
function isWanted({ options }: Context): (event: TelemetryEvent) => boolean {
  const categories = options['categories'] as readonly string[] | undefined
  const types = options['types'] as readonly string[] | undefined
  return ({ event }) =>
    (categories?.includes(event.category) ?? true) && (types?.includes(event.type) ?? true)
}

async function stream(context: Context): Promise<void> {
  const { input, options, terminal } = context
  const wanted = isWanted(context)
  const seq = options['seq'] as number | undefined
  const api = await context.api()
  const call = {
    params: { id: firstArg(context) },
    query: input.query,
    ...(seq !== undefined && { headers: { 'Last-Event-ID': String(seq) } }),
  }
  for await (const event of api.events<TelemetryEvent>('streamTelemetry', call)) {
    if (event.event !== undefined && wanted(event)) await printLine(terminal, event)
  }
}

async function stored(context: Context): Promise<void> {
  const { input, terminal, format, columns, wide } = context
  const types = context.options['types'] as readonly string[] | undefined
  const { isAll, query } = listOptions(context)
  const call = { params: { id: firstArg(context) }, query: { ...input.query, ...query } }
  const api = await context.api()
  const page = isAll ? undefined : await api.page('listTelemetryEvents', call)
  const items = (page?.items ?? (await api.all('listTelemetryEvents', call))) as readonly TelemetryEvent[]
  const wanted = items.filter(({ event }) => types?.includes(event.type) ?? true)
  await print(terminal, wanted, { format, columns, wide, none: 'No events' })
  if (page?.hasMore)
    terminal.note(terminal.paintError('dim', `There are more: add --offset ${page.next}, or --all`))
}
