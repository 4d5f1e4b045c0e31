import { firstArg, type Context } from '../command/context.ts'
import { Failure } from '../basics/failure.ts'
import { print } from '../output/print.ts'

export async function run(context: Context): Promise<void> {
  const { terminal, format } = context
  const api = await context.api()
  const session = await api.call<{ browser_live_view_url?: string }>('getBrowser', {
    params: { id: firstArg(context) },
  })
  let url = session.browser_live_view_url
  // A headless session has one, too, for who asks.
  url ??= (
    await api.call<{ url: string }>('createLiveViewLink', {
      params: { id: firstArg(context) },
      body: { mode: 'control' },
    })
  ).url
  if (!url) throw new Failure('The session has no live view')
  if (format === 'json' || format === 'yaml') await print(terminal, { liveViewUrl: url }, { format })
  else terminal.out.write(`${url}\n`)
}
