// Sessions: the browsers themselves.
import { Type } from 'typebox'
import {
  createBrowser,
  deleteBrowser,
  getBrowser,
  listBrowsers,
  updateBrowser,
  type Browser,
} from '@berth/contracts/browsers'
import { OneOf } from '@berth/contracts/schema'
import { listTelemetryEvents } from '@berth/contracts/telemetry'
import { eventCategories } from '@berth/contracts/telemetry-events'
import { compact, data, facts, type Answer } from '../core/answer.ts'
import { ToolFailure } from '../core/run.ts'
import { maskBody, maskHeaders } from '../core/secrets.ts'
import { visible } from '../core/text.ts'
import { manyTool, type Args, type Context } from '../core/tool.ts'
import { done, given, listAnswer, pageFields, search } from './paging.ts'

/** Models think for minutes between two calls; a session that nobody uses is frozen and costs little. */
const TIMEOUT_SECONDS = 3_600

const text = (description: string, maxLength = 255) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description }))
const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const whole = (description: string, limits: object = {}) =>
  Type.Optional(Type.Integer({ description, ...limits }))

export const browserSettings = {
  start_url: text('Address to open', 8_000),
  headless: flag('Without a display: uses less memory'),
  stealth: flag('Hide signs of automation from pages'),
  kiosk_mode: flag('Show the page full screen'),
  profile_name: text('Name of the profile to start with: its logins and cookies'),
  profile_id: text('Id of that profile, instead of its name'),
  proxy_id: text('Id of the proxy to use'),
  extension_id: text('Id of an extension to load'),
  extension_name: text('Name of an extension to load'),
  timeout_seconds: whole('Seconds without use after which the session ends', {
    minimum: 10,
    maximum: 259_200,
  }),
  viewport_width: whole('Width of the window in pixels'),
  viewport_height: whole('Height of the window in pixels'),
  viewport_refresh_rate: whole('Frames per second of live view and recordings'),
  chrome_policy: Type.Optional(
    Type.Object({}, { additionalProperties: true, description: 'Enterprise policies of Chromium' }),
  ),
}

export function viewportOf(args: Args): object | undefined {
  const { viewport_width: width, viewport_height: height, viewport_refresh_rate: rate } = args
  if (width === undefined && height === undefined && rate === undefined) return undefined
  if (width === undefined || height === undefined) {
    throw new ToolFailure(
      'Cannot set the viewport: give both viewport_width and viewport_height [code: bad_request]',
    )
  }
  return given({ width, height, refresh_rate: rate })
}

export function profileOf(args: Args): object | undefined {
  const { profile_name: name, profile_id: id, save_profile_changes: saves } = args
  if (name === undefined && id === undefined) return undefined
  return given({ name: id === undefined ? name : undefined, id, save_changes: saves })
}

export function extensionsOf(args: Args): object[] | undefined {
  const { extension_id: id, extension_name: name } = args
  return id === undefined && name === undefined
    ? undefined
    : [given({ id, name: id === undefined ? name : undefined })]
}

const categories = ['console', 'network', 'page', 'interaction'] as const

function telemetryOf(args: Args, isNew: boolean): object | undefined {
  const chosen = categories.filter((name) => args[`telemetry_${name}`] !== undefined)
  const enabled: boolean | undefined = args.telemetry_enabled
  if (enabled === false) return { enabled: false }
  if (!isNew && enabled === undefined && chosen.length === 0) return undefined
  const usual = isNew || enabled === true ? { console: true, network: true, page: true } : {}
  const own = Object.fromEntries(chosen.map((name) => [name, args[`telemetry_${name}`] as boolean]))
  const browser = Object.fromEntries(
    Object.entries({ ...usual, ...own }).map(([name, isOn]) => [name, { enabled: isOn }]),
  )
  return { ...((isNew || enabled === true) && { enabled: true }), browser }
}

/** Without the addresses with tokens: a list is read by a model, and one session's are read with get. */
function listed(item: Record<string, unknown>): unknown {
  const {
    session_id,
    name,
    state,
    headless,
    start_url,
    created_at,
    deleted_at,
    end_reason,
    profile,
    pool,
    tags,
  } = item as unknown as Browser
  const profileName = profile?.name ?? profile?.id
  return given({
    session_id,
    name,
    state,
    headless,
    start_url,
    created_at,
    deleted_at,
    end_reason,
    profile: profileName,
    pool: pool?.name ?? pool?.id,
    tags,
  })
}

const shown = (browser: Browser): Answer => [facts(compact(browser))]

function nextSteps({ session_id: id, name, browser_live_view_url: live }: Browser): string[] {
  const of = name ?? id
  return [
    `browser_navigate with session_id "${of}" and a url`,
    `browser_snapshot with session_id "${of}" to read the page`,
    ...(live === undefined ? [] : ['a person can watch at browser_live_view_url']),
    `manage_browsers, action delete, session_id "${of}" at the end`,
  ]
}

async function telemetry(args: Args, context: Context): Promise<Answer> {
  const isCompact = args.compact ?? true
  if (!isCompact && (args.categories === undefined || (args.limit ?? 20) > 5)) {
    throw new ToolFailure(
      'Cannot show whole events: with compact false, give categories and a limit of at most 5 [code: bad_request]',
    )
  }
  const offset: number | undefined = args.offset
  const page = await context.api.page(listTelemetryEvents, {
    params: { id: args.session_id },
    query: given({
      category: args.categories,
      limit: args.limit ?? 20,
      offset,
      since: offset === undefined ? args.since : undefined,
      until: args.until,
      order: args.order,
    }),
  })
  const items = page.items.map(({ seq, event }) => {
    const { headers, post_data: posted, ...rest } = event.data ?? {}
    const fields = {
      ...rest,
      ...(!isCompact &&
        typeof headers === 'object' &&
        headers !== null && { headers: maskHeaders(headers as Record<string, unknown>) }),
      ...(!isCompact && typeof posted === 'string' && { post_data: maskBody(posted) }),
    }
    if (!isCompact) return { seq, ts: event.ts, type: event.type, ...fields }
    const { body: _body, png: _png, stack_trace: _stack, ...small } = fields as Record<string, unknown>
    const omitted = ['headers', 'post_data', 'body', 'png', 'stack_trace'].filter(
      (name) => event.data?.[name] !== undefined,
    )
    const kept = compact({ seq, ts: event.ts, type: event.type, ...small })
    const all = [...omitted, ...(kept.omitted_fields ?? [])]
    return { ...kept, ...(all.length > 0 && { omitted_fields: all }) }
  })
  const more = page.hasMore && page.nextOffset !== undefined ? { next_offset: page.nextOffset } : {}
  let count = items.length
  while (count > 1 && JSON.stringify(items.slice(0, count)).length > 20_000) count--
  const left = items.length - count
  const body = { items: items.slice(0, count), has_more: page.hasMore || left > 0, ...more }
  const note = left > 0 ? [facts({ note: `${left} events did not fit: ask for fewer with "limit"` })] : []
  return [data(context.secrets.mask(visible(JSON.stringify(body, undefined, 1))), 'web pages'), ...note]
}

export const manageBrowsers = manyTool({
  name: 'manage_browsers',
  title: 'Browser sessions',
  toolset: 'browsers',
  description:
    'Creates and ends browser sessions. A session lives on when you disconnect, until it is deleted or nobody has used it for timeout_seconds (an hour by default).',
  input: {
    session_id: text('Name or id of the session'),
    name: text('For create and update: a name of your own for the session'),
    tags: Type.Optional(
      Type.Record(Type.String(), Type.String({ maxLength: 255 }), { description: 'Your own labels' }),
    ),
    ...browserSettings,
    gpu: flag('Use a GPU'),
    region: text('Region to start in'),
    locale: text('Language of the browser, such as de-DE'),
    timezone: text('Time zone of the browser, such as Europe/Berlin'),
    save_profile_changes: flag('Save cookies and logins to the profile when the session ends'),
    record: flag('Record a video from the start'),
    clear_proxy: flag('For update: use no proxy any more'),
    disable_default_proxy: flag('Connect directly, without the default proxy'),
    viewport_force: flag('For update: resize also while somebody watches or a recording runs'),
    telemetry_enabled: flag('Capture events; on by default'),
    telemetry_console: flag('Capture the console; on by default'),
    telemetry_network: flag('Capture requests; on by default'),
    telemetry_page: flag('Capture navigations; on by default'),
    telemetry_interaction: flag('Capture clicks and keys'),
    status: Type.Optional(
      OneOf(['active', 'deleted', 'all'] as const, { default: 'active', description: 'For list' }),
    ),
    query: search,
    ...pageFields,
    categories: Type.Optional(
      Type.Array(OneOf(eventCategories, { description: 'Category' }), {
        maxItems: 20,
        description: 'For get_telemetry: only these',
      }),
    ),
    since: text('For get_telemetry: a time, or 5m for the last five minutes', 64),
    until: text('For get_telemetry: a time', 64),
    order: Type.Optional(
      OneOf(['asc', 'desc'] as const, { description: 'For get_telemetry: oldest or newest first' }),
    ),
    compact: Type.Optional(
      Type.Boolean({ default: true, description: 'For get_telemetry: without headers, bodies and pictures' }),
    ),
  },
  actions: {
    create: {
      does: 'start a browser session',
      needs: [createBrowser],
      run: async (args: Args, { api }) => {
        const browser = await api.call(createBrowser, {
          body: given({
            name: args.name,
            tags: args.tags,
            start_url: args.start_url,
            headless: args.headless,
            stealth: args.stealth,
            gpu: args.gpu,
            kiosk_mode: args.kiosk_mode,
            region: args.region,
            locale: args.locale,
            timezone: args.timezone,
            timeout_seconds: args.timeout_seconds ?? TIMEOUT_SECONDS,
            viewport: viewportOf(args),
            profile: profileOf(args),
            extensions: extensionsOf(args),
            chrome_policy: args.chrome_policy,
            record: args.record,
            telemetry: telemetryOf(args, true),
            proxy_id: args.proxy_id,
            proxy: args.disable_default_proxy === true ? { mode: 'direct' } : undefined,
          }),
          workSeconds: 90,
        })
        return [...shown(browser), facts({ next_actions: nextSteps(browser) })]
      },
    },
    list: {
      does: 'list sessions, newest first',
      needs: [listBrowsers],
      run: (args: Args, context) =>
        listAnswer(context, listBrowsers, args, {
          query: given({ status: args.status, query: args.query }),
          toShown: listed,
        }),
    },
    get: {
      does: 'show one session with its addresses',
      needs: [getBrowser],
      requires: ['session_id'],
      run: async (args: Args, { api }) =>
        shown(
          await api.call(getBrowser, { params: { id: args.session_id }, query: { include_deleted: true } }),
        ),
    },
    update: {
      does: 'change name, tags, timeout, viewport, proxy, telemetry, or load a profile',
      needs: [updateBrowser],
      requires: ['session_id'],
      run: async (args: Args, { api }) => {
        const viewport = viewportOf(args)
        const browser = await api.call(updateBrowser, {
          params: { id: args.session_id },
          body: given({
            name: args.name,
            tags: args.tags,
            start_url: args.start_url,
            timeout_seconds: args.timeout_seconds,
            viewport: viewport && given({ ...viewport, force: args.viewport_force }),
            profile: profileOf(args),
            telemetry: telemetryOf(args, false),
            proxy_id: args.clear_proxy === true ? '' : args.proxy_id,
            disable_default_proxy: args.disable_default_proxy,
          }),
        })
        return shown(browser)
      },
    },
    delete: {
      does: 'end a session; saves its profile if it was asked to',
      needs: [deleteBrowser],
      requires: ['session_id'],
      run: async (args: Args, { api }) => {
        await api.call(deleteBrowser, { params: { id: args.session_id }, workSeconds: 90 })
        return done({ deleted: args.session_id })
      },
    },
    get_telemetry: {
      does: 'read what happened in the session',
      needs: [listTelemetryEvents],
      requires: ['session_id'],
      run: telemetry,
    },
  },
})
