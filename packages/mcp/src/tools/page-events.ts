// Console and network of a session, from its telemetry: what happened while nobody was connected is there, too.
import { Type } from 'typebox'
import { getBrowser } from '@berth/contracts/browsers'
import { OneOf } from '@berth/contracts/schema'
import { listTelemetryEvents, type TelemetryEvent } from '@berth/contracts/telemetry'
import { data, words, type Answer } from '../core/answer.ts'
import { ToolFailure } from '../core/run.ts'
import { maskBody, maskHeaders } from '../core/secrets.ts'
import { cut, MAX_TEXT, visible } from '../core/text.ts'
import { tool, type Args, type Context, type Tool } from '../core/tool.ts'
import { sessionId } from '../page/fields.ts'

const MAX_PAGES = 20
const PAGE = 100
const MAX_LINE = 600
const MAX_SHOWN = 200

type Data = Readonly<Record<string, unknown>>

interface Filter {
  readonly sessionId: string
  readonly category: 'console' | 'network'
  readonly since: string | undefined
  readonly limit: number
  readonly matches: (event: TelemetryEvent['event'], fields: Data) => boolean
}

interface Found {
  readonly events: readonly TelemetryEvent[]
  readonly isCut: boolean
}

/** The newest that match, oldest first. Without `since` it looks back through what is stored, within a limit. */
async function newest({ api }: Context, filter: Filter): Promise<Found> {
  const found: TelemetryEvent[] = []
  let offset: number | undefined
  for (let count = 0; count < MAX_PAGES; count++) {
    const page = await api.page(listTelemetryEvents, {
      params: { id: filter.sessionId },
      query: {
        category: [filter.category],
        limit: PAGE,
        ...(offset !== undefined && { offset }),
        ...(filter.since === undefined
          ? { order: 'desc' as const }
          : offset === undefined && { since: filter.since }),
      },
    })
    found.push(...page.items.filter(({ event }) => filter.matches(event, event.data ?? {})))
    if (filter.since === undefined && found.length >= filter.limit) break
    if (!page.hasMore || page.nextOffset === undefined) {
      return { events: inOrder(found).slice(-filter.limit), isCut: found.length > filter.limit }
    }
    offset = page.nextOffset
  }
  return { events: inOrder(found).slice(-filter.limit), isCut: true }
}

const inOrder = (events: readonly TelemetryEvent[]) => events.toSorted((one, other) => one.seq - other.seq)

/** An empty answer because nothing happened is not the same as because nothing was captured. */
async function requireCaptured({ api }: Context, id: string, category: 'console' | 'network'): Promise<void> {
  const session = await api.call(getBrowser, { params: { id }, query: { include_deleted: true } })
  if (session.telemetry?.browser[category]?.enabled) return
  throw new ToolFailure(
    `Cannot show this: the session does not capture its ${category}. Turn it on with manage_browsers, action update, telemetry_${category} true, and do again what you want to see [code: not_captured]`,
  )
}

const since = Type.Optional(
  Type.String({
    maxLength: 64,
    description: 'From when on: a time such as 2026-01-31T12:00:00Z, or 5m for the last five minutes',
  }),
)
const limit = Type.Optional(
  Type.Integer({ minimum: 1, maximum: MAX_SHOWN, default: 50, description: 'How many of the newest' }),
)
const contains = (what: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: `Only with this text in ${what}` }))

const text = (value: unknown) => (typeof value === 'string' ? value : '')
const has = (value: unknown, part: string | undefined) =>
  part === undefined || text(value).toLowerCase().includes(part.toLowerCase())
const timeOf = ({ ts }: TelemetryEvent['event']) => new Date(ts / 1000).toISOString().slice(11, 23)
const line = (parts: readonly string[], { secrets }: Context) =>
  cut(
    secrets.mask(visible(parts.filter((part) => part !== '').join(' ')).replaceAll('\n', ' ⏎ ')),
    0,
    MAX_LINE,
  )

function shown(lines: readonly string[], { isCut }: Found): Answer {
  let from = 0
  let size = lines.reduce((sum, each) => sum + each.length + 1, 0)
  while (size > MAX_TEXT) size -= lines[from++]!.length + 1
  const left = isCut || from > 0
  return [
    data(lines.slice(from).join('\n') || 'Nothing matches'),
    ...(left ? [words('Older ones are left out: filter more, or set "since".')] : []),
  ]
}

const levels = ['all', 'error', 'warning', 'info'] as const

const consoleMessages = tool({
  name: 'browser_console_messages',
  title: 'Read the console of the pages',
  toolset: 'page',
  description: 'Console messages and uncaught errors of all tabs, the newest last, by level and text.',
  input: {
    session_id: sessionId,
    level: Type.Optional(
      OneOf(levels, { default: 'all', description: 'Only this level; error includes uncaught errors' }),
    ),
    contains: contains('the message'),
    since,
    limit,
  },
  needs: [listTelemetryEvents, getBrowser],
  hints: { readOnly: true },
  run: async (args: Args, context) => {
    const found = await newest(context, {
      sessionId: args.session_id,
      category: 'console',
      since: args.since,
      limit: args.limit ?? 50,
      matches: ({ type }, fields) => {
        const level = type === 'console_error' ? 'error' : text(fields['level'])
        const isWanted = (args.level ?? 'all') === 'all' || level.startsWith(args.level)
        return isWanted && has([fields['text'], fields['args']].flat().join(' '), args.contains)
      },
    })
    if (found.events.length === 0) await requireCaptured(context, args.session_id, 'console')
    const lines = found.events.map(({ event }) => {
      const fields: Data = event.data ?? {}
      const level = event.type === 'console_error' ? 'error' : text(fields['level'])
      const said = Array.isArray(fields['args']) ? fields['args'].map(text).join(' ') : text(fields['text'])
      const place = text(fields['source_url'])
      return line([timeOf(event), `[${level}]`, said || text(fields['text']), place && `(${place})`], context)
    })
    return shown(lines, found)
  },
})

const requests = tool({
  name: 'browser_network_requests',
  title: 'Read the network requests of the pages',
  toolset: 'page',
  description:
    'Requests that the pages made and what came back, the newest last. With request_id: one request in full, with headers and the start of the bodies. Secrets in headers, addresses and forms are masked.',
  input: {
    session_id: sessionId,
    url_contains: contains('the address'),
    method: Type.Optional(Type.String({ pattern: '^[A-Za-z]{1,20}$', description: 'Only this method' })),
    status: Type.Optional(
      Type.String({
        pattern: '^([1-5]xx|[1-5]\\d\\d|failed)$',
        description: 'Only answers with this status, such as 404 or 5xx, or failed',
      }),
    ),
    resource_type: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z]{1,30}$',
        description: 'Only this type, such as Document, XHR, Fetch, Script, Image',
      }),
    ),
    request_id: Type.Optional(
      Type.String({ pattern: '^[\\w.-]{1,100}$', description: 'One request in full' }),
    ),
    since,
    limit,
  },
  needs: [listTelemetryEvents, getBrowser],
  hints: { readOnly: true },
  run: async (args: Args, context) => {
    const types = ['network_request', 'network_response', 'network_loading_failed']
    const id: string | undefined = args.request_id
    const isDetail = id !== undefined
    const found = await newest(context, {
      sessionId: args.session_id,
      category: 'network',
      since: args.since,
      limit: isDetail ? 20 : (args.limit ?? 50),
      matches: ({ type }, fields) => {
        if (!types.includes(type)) return false
        if (isDetail) return fields['request_id'] === id
        // A request without its end has nothing to say about a status.
        return (
          (args.status === undefined
            ? type !== 'network_request' || args.method !== undefined
            : type !== 'network_request') &&
          has(fields['url'], args.url_contains) &&
          (args.method === undefined || text(fields['method']).toUpperCase() === args.method.toUpperCase()) &&
          (args.resource_type === undefined ||
            text(fields['resource_type']).toLowerCase() === args.resource_type.toLowerCase()) &&
          hasStatus(type, fields['status'], args.status)
        )
      },
    })
    if (found.events.length === 0) await requireCaptured(context, args.session_id, 'network')
    if (isDetail) return detail(found.events, context)
    const lines = found.events.map(({ event }) => {
      const fields: Data = event.data ?? {}
      const outcome =
        event.type === 'network_loading_failed'
          ? `failed (${text(fields['error_text'])})`
          : event.type === 'network_request'
            ? 'sent'
            : String(fields['status'])
      return line(
        [
          timeOf(event),
          text(fields['method']),
          outcome,
          text(fields['resource_type']),
          text(fields['url']),
          `[request_id=${text(fields['request_id'])}]`,
        ],
        context,
      )
    })
    return shown(lines, found)
  },
})

function hasStatus(type: string, status: unknown, wanted: string | undefined): boolean {
  if (wanted === undefined) return true
  if (wanted === 'failed') return type === 'network_loading_failed'
  return new RegExp(`^${wanted.replace('xx', '..')}$`).test(String(status))
}

const MAX_BODY = 4_000

function detail(events: readonly TelemetryEvent[], { secrets }: Context): Answer {
  const parts = events.map(({ event }) => {
    const { headers, post_data: posted, body, stack_trace: _stack, ...fields } = (event.data ?? {}) as Data
    const shownFields = {
      type: event.type,
      time: timeOf(event),
      ...fields,
      ...(typeof headers === 'object' && headers !== null && { headers: maskHeaders(headers as Data) }),
      ...(typeof posted === 'string' && { post_data: cut(maskBody(posted), 0, MAX_BODY) }),
      ...(typeof body === 'string' && { body: cut(body, 0, MAX_BODY) }),
    }
    return JSON.stringify(shownFields, undefined, 1)
  })
  return [data(cut(secrets.mask(visible(parts.join('\n'))), 0, MAX_TEXT) || 'Nothing matches')]
}

export const pageEventTools: readonly Tool[] = [consoleMessages, requests]
