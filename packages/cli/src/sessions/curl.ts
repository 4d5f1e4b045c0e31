// An HTTP request by the browser of a session, with the flags of curl. The answer comes as it is.
import { writeFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { Context } from '../command/context.ts'
import { saveFile } from '../command/save-answer.ts'
import { readFile, readText } from '../command/values.ts'
import { ExitWith, Failure, usage } from '../basics/failure.ts'
import { exitCodes } from '../basics/exit-codes.ts'
import { write } from '../output/terminal.ts'

const DEFAULT_SECONDS = 30

export async function run(context: Context): Promise<void> {
  const { options, terminal, signal } = context
  const [id, url] = context.args as [string, string]
  const response = await send(context, id, url)
  const head = headText(response)
  const dump = options['dumpHeader'] as string | undefined
  if (dump === '-') await write(terminal.out, head)
  else if (dump !== undefined) await writeFile(dump, head)
  if (options['include'] === true || options['head'] === true) await write(terminal.out, head)
  const isFailed = options['fail'] === true && response.status >= 400
  if (isFailed || !response.body) await response.body?.cancel()
  else {
    const body = Readable.fromWeb(response.body as never)
    const file = options['output'] as string | undefined
    if (file !== undefined && file !== '-') await saveFile(body, file, signal)
    else for await (const piece of body) await write(terminal.out, piece as Buffer)
  }
  const format = options['writeOut'] as string | undefined
  if (format !== undefined) await write(terminal.out, writtenOut(format, response, url))
  if (isFailed) {
    terminal.err.write(`The site answered ${response.status}\n`)
    throw new ExitWith(exitCodes.failed)
  }
}

/** What the site answers with an error status is an answer, and no error of the API: so this is no call of the client. */
async function send(context: Context, id: string, url: string): Promise<Response> {
  const { options, signal } = context
  const api = await context.api()
  const session = await api.call<{ session_id: string; base_url?: string; cdp_ws_url: string }>(
    'getBrowser',
    {
      params: { id },
    },
  )
  const token = new URL(session.cdp_ws_url).searchParams.get('jwt')
  const base = session.base_url
  if (!base) throw new Failure('Cannot use curl: the session has no base_url')
  const target = new URL(`${base.replace(/\/$/, '')}/curl/raw`)
  target.searchParams.set('url', url)
  const seconds = (options['maxTime'] as number | undefined) ?? DEFAULT_SECONDS
  target.searchParams.set('timeout_ms', String(seconds * 1000))
  if (token) target.searchParams.set('jwt', token)
  const body = bodyOf(options)
  const usual = options['head'] === true ? 'HEAD' : body === undefined ? 'GET' : 'POST'
  const method = (options['request'] as string | undefined) ?? usual
  return fetch(target, {
    method,
    signal,
    redirect: 'manual',
    headers: { ...(token === null && { authorization: `Bearer ${api.server.key}` }), ...headersOf(options) },
    ...(body !== undefined && { body }),
  })
}

function bodyOf(options: Context['options']): string | undefined {
  const file = options['dataFile'] as string | undefined
  if (file !== undefined) return readFile(file)
  const data = options['data'] as string | undefined
  return data === undefined ? undefined : readText(data)
}

function headersOf(options: Context['options']): Record<string, string> {
  const given = (options['header'] as readonly string[] | undefined) ?? []
  return Object.fromEntries(
    given.map((line) => {
      const at = line.indexOf(':')
      if (at < 1) throw usage(`Cannot use the header "${line}"`, 'Write it like "Accept: text/html"')
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    }),
  )
}

function headText(response: Response): string {
  const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`)
  return `HTTP/1.1 ${response.status} ${response.statusText}\r\n${lines.join('\r\n')}\r\n\r\n`
}

function writtenOut(format: string, response: Response, url: string): string {
  const values: Record<string, string> = {
    http_code: String(response.status),
    response_code: String(response.status),
    content_type: response.headers.get('content-type') ?? '',
    url_effective: url,
  }
  return format
    .replaceAll(/%\{(\w+)\}/g, (_all, name: string) => values[name] ?? '')
    .replaceAll(String.raw`\n`, '\n')
    .replaceAll(String.raw`\t`, '\t')
}
