// One event of the timeline, with what its row shows. Large parts are left out, and read when somebody opens the event.
import type { TelemetryEvent } from '@berth/contracts/telemetry'

export interface Line {
  readonly seq: number
  readonly ms: number
  readonly type: string
  readonly category: string
  readonly text: string
  readonly tone: 'bad' | 'warn' | 'plain'
}

type Data = Readonly<Record<string, unknown>>

const text = (value: unknown) => (typeof value === 'string' ? value : '')
const number = (value: unknown) => (typeof value === 'number' ? value : undefined)

export function lineOf({ seq, event }: TelemetryEvent): Line {
  const data: Data = event.data ?? {}
  return {
    seq,
    ms: event.ts / 1000,
    type: event.type,
    category: event.category ?? 'system',
    text: textOf(event.type, data),
    tone: toneOf(event.type, data),
  }
}

const words: Readonly<Record<string, (data: Data) => string>> = {
  console_log: (data) => text(data['text']),
  console_error: (data) => text(data['text']),
  network_request: ({ method, url }) => `${text(method)} ${text(url)}`,
  network_response: ({ status, method, url }) => `${number(status) ?? ''} ${text(method)} ${text(url)}`,
  network_loading_failed: ({ error_text: error, url }) => `${text(error)} ${text(url)}`,
  proxy_error: ({ code, url }) => `The proxy refused it: ${text(code)} ${text(url)}`,
  network_idle: () => 'The network is quiet',
  page_navigation: ({ url }) => `Opened ${text(url)}`,
  page_dom_content_loaded: ({ url }) => `The document is there: ${text(url)}`,
  page_load: ({ url }) => `Loaded ${text(url)}`,
  page_tab_opened: ({ url, title }) => `New tab ${text(title)} ${text(url)}`,
  page_layout_shift: ({ url }) => `The layout moved on ${text(url)}`,
  page_lcp: ({ url }) => `Largest content shown on ${text(url)}`,
  page_layout_settled: () => 'The layout is steady',
  page_navigation_settled: () => 'The page is steady',
  interaction_click: ({ selector, text: label }) => `Click on ${text(label) || text(selector)}`,
  interaction_key: ({ key, selector }) => `Key ${text(key) || '•'} in ${text(selector)}`,
  interaction_scroll_settled: ({ to_y: y }) => `Scrolled to ${number(y) ?? '?'}`,
  monitor_screenshot: () => 'Screenshot',
  monitor_disconnected: ({ reason }) => `The browser is away: ${text(reason)}`,
  monitor_reconnected: () => 'The browser is back',
  monitor_events_deleted: () => 'Older events were deleted, because the project stores no more',
  api_call: ({ operation_id: operation, status, duration_ms: ms }) =>
    `${text(operation)} was answered with ${number(status) ?? '?'} after ${number(ms) ?? '?'} ms`,
  cdp_connect: () => 'A CDP client connected',
  cdp_disconnect: ({ reason, message_count: count }) =>
    `A CDP client left after ${number(count) ?? '?'} messages (${text(reason)})`,
  live_view_connect: () => 'Somebody opened the live view',
  live_view_disconnect: () => 'Somebody closed the live view',
  captcha_solve_result: ({ captcha_type: kind, status }) => `Captcha ${text(kind)}: ${text(status)}`,
  system_oom_kill: ({ process_name: name }) => `Out of memory: ${text(name)} was killed`,
  sound_start: () => 'Something plays sound',
  sound_stop: ({ duration_ms: ms }) => `Silent again after ${number(ms) ?? '?'} ms of sound`,
  service_crashed: ({ service_name: name, phase }) => `${text(name)} crashed (${text(phase)})`,
}

function textOf(type: string, data: Data): string {
  const said = Object.hasOwn(words, type) ? words[type]!(data) : ''
  return said.trim() === '' ? type.replaceAll('_', ' ') : said
}

const badTypes: ReadonlySet<string> = new Set([
  'console_error',
  'network_loading_failed',
  'proxy_error',
  'monitor_reconnect_failed',
  'monitor_init_failed',
  'system_oom_kill',
  'service_crashed',
])

function toneOf(type: string, { status, level, canceled }: Data): Line['tone'] {
  if (type === 'network_loading_failed' && canceled === true) return 'warn'
  if (badTypes.has(type)) return 'bad'
  if (type === 'network_response' || type === 'api_call') {
    const code = number(status) ?? 0
    return code >= 500 ? 'bad' : code >= 400 ? 'warn' : 'plain'
  }
  if (type === 'monitor_disconnected' || type === 'monitor_events_deleted') return 'warn'
  return level === 'warning' ? 'warn' : 'plain'
}
