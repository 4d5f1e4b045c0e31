// A session by the client that swagger-typescript-api makes.
import { Api, type TelemetryEvent } from './made/Api'
import { CODE, CONTENT, PATH, type Given, type Seen } from './session'

const JSON_ANSWER = { format: 'json' } as const

export async function run({ url, key }: Given): Promise<Seen> {
  const api = new Api<string>({
    baseUrl: url,
    securityWorker: (token) => ({ headers: { Authorization: `Bearer ${token}` } }),
  })
  api.setSecurityData(key)
  const made = await api.browsers.postBrowsers({
    headless: true,
    timeout_seconds: 120,
    name: 'by-swagger-typescript-api',
    telemetry: { enabled: true, browser: { console: { enabled: true } } },
  })
  const id = made.data.session_id
  const listed = await api.browsers.getBrowsers({ limit: 5, query: 'by-swagger-typescript-api' })

  const reading = readEvents(await api.browsers.streamBrowserTelemetry(id), 'executePlaywrightCode')
  await api.browsers.uploadFiles(id, {
    'files[0][dest_path]': PATH,
    'files[0][file]': new File([CONTENT], 'uploaded.txt'),
  })
  const file = await api.browsers.readFile(id, { path: PATH }, { format: 'blob' })
  const printed = await api.browsers.processExec(id, { command: 'echo', args: ['printed'] })
  const picture = await api.browsers.takeScreenshot(id, {}, { format: 'blob' })
  const executed = await api.browsers.executePlaywrightCode(id, { code: CODE })
  if (!executed.data.success) throw new Error(executed.data.error)
  const { lines, calls, numbers } = await reading
  const again = await api.browsers.streamBrowserTelemetry(
    id,
    {},
    { headers: { 'Last-Event-ID': String(numbers[0]) } },
  )
  const resumed = (await readEvents(again, 'executePlaywrightCode')).numbers

  const newer = { timeout_seconds: 130, colour: 'teal' }
  const changed = await api.browsers.patchBrowsersByIdOrName(id, newer)
  const missing = await api.browsers.getBrowsersByIdOrName('nobody').then(
    () => {
      throw new Error('A session that does not exist was found')
    },
    ({ status, error }: Awaited<ReturnType<typeof api.browsers.getBrowsersByIdOrName>>) => ({
      status,
      code: error.code,
    }),
  )
  const ended = await api.browsers.deleteBrowsersByIdOrName(id)
  return {
    sessionId: id,
    listed: listed.data.map(({ session_id }) => session_id),
    hasMore: listed.headers.get('X-Has-More'),
    file: await file.data.text(),
    printed: atob(printed.data.stdout_b64),
    picture: new Uint8Array(await picture.data.arrayBuffer()),
    lines,
    calls,
    numbers,
    resumed,
    ignored: changed.headers.get('X-Berth-Ignored'),
    missing,
    ended: ended.status,
  }
}

/** This generator leaves the framing of events to its user; their type it knows. Until the call. */
async function readEvents({ body }: { readonly body: ReadableStream<Uint8Array> | null }, call: string) {
  const lines: string[] = []
  const calls: string[] = []
  const numbers: number[] = []
  if (!body) throw new Error('The stream has no body')
  const reader = body
    .pipeThrough(new TextDecoderStream() as never)
    .getReader() as ReadableStreamDefaultReader<string>
  let text = ''
  while (!calls.includes(call)) {
    const { value, done } = await reader.read()
    if (done) break
    const frames = (text + value).split('\n\n')
    text = frames.pop() ?? ''
    for (const frame of frames) {
      const data = /^data: (.*)$/m.exec(frame)?.[1]
      if (data === undefined) continue
      const { seq, event } = JSON.parse(data) as TelemetryEvent
      numbers.push(seq)
      if (event.type === 'console_log') lines.push(event.data.text)
      if (event.type === 'api_call') calls.push(event.data.operation_id)
    }
  }
  await reader.cancel()
  return { lines, calls, numbers }
}
