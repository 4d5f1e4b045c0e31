// A session by the client that @hey-api/openapi-ts makes.
import { createClient } from './made/client'
import * as api from './made/sdk.gen'
import { CODE, CONTENT, PATH, type Given, type Seen } from './session'

const DONE = { throwOnError: true } as const

export async function run({ url, key }: Given): Promise<Seen> {
  const client = createClient({ baseUrl: url, auth: key })
  const made = await api.postBrowsers({
    ...DONE,
    client,
    body: {
      headless: true,
      timeout_seconds: 120,
      tags: { made: 'by hey-api' },
      telemetry: { enabled: true, browser: { console: { enabled: true } } },
    },
  })
  const id = made.data.session_id
  const of = { ...DONE, client, path: { id } }
  const listed = await api.getBrowsers({ ...DONE, client, query: { limit: 5, tags: { made: 'by hey-api' } } })

  const stopping = new AbortController()
  const events = await api.streamBrowserTelemetry({ client, path: { id }, signal: stopping.signal })
  const reading = readEvents(events.stream, 'executePlaywrightCode')
  await api.uploadFiles({
    ...of,
    body: { 'files[0][dest_path]': PATH, 'files[0][file]': new Blob([CONTENT]) },
  })
  const file = await api.readFile({ ...of, query: { path: PATH }, parseAs: 'blob' })
  const printed = await api.processExec({ ...of, body: { command: 'echo', args: ['printed'] } })
  const picture = await api.takeScreenshot({ ...of, parseAs: 'blob' })
  const executed = await api.executePlaywrightCode({ ...of, body: { code: CODE } })
  if (!executed.data.success) throw new Error(executed.data.error)
  const { lines, calls, numbers } = await reading
  stopping.abort()

  const resuming = new AbortController()
  const again = await api.streamBrowserTelemetry({
    client,
    path: { id },
    headers: { 'Last-Event-ID': String(numbers[0]) },
    signal: resuming.signal,
  })
  const resumed = (await readEvents(again.stream, 'executePlaywrightCode')).numbers
  resuming.abort()

  const newer = { timeout_seconds: 130, colour: 'teal' }
  const changed = await api.patchBrowsersByIdOrName({ ...of, body: newer })
  const missing = await api.getBrowsersByIdOrName({ client, path: { id: 'nobody' } })
  if (missing.error === undefined) throw new Error('A session that does not exist was found')
  const ended = await api.deleteBrowsersByIdOrName(of)
  return {
    sessionId: id,
    listed: listed.data.map(({ session_id }) => session_id),
    hasMore: listed.response.headers.get('X-Has-More'),
    file: await file.data.text(),
    printed: atob(printed.data.stdout_b64),
    picture: new Uint8Array(await picture.data.arrayBuffer()),
    lines,
    calls,
    numbers,
    resumed,
    ignored: changed.response.headers.get('X-Berth-Ignored'),
    missing: { status: missing.response?.status ?? 0, code: missing.error.code },
    ended: ended.response.status,
  }
}

type Events = Awaited<ReturnType<typeof api.streamBrowserTelemetry>>['stream']

/** Until the call. */
async function readEvents(stream: Events, call: string) {
  const lines: string[] = []
  const calls: string[] = []
  const numbers: number[] = []
  for await (const { seq, event } of stream) {
    numbers.push(seq)
    // The type of the event decides the type of its data.
    if (event.type === 'console_log') lines.push(event.data.text)
    if (event.type === 'api_call') calls.push(event.data.operation_id)
    if (calls.includes(call)) break
  }
  return { lines, calls, numbers }
}
