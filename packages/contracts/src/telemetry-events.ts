// Event types and categories, without schemas, so that the agent's bundle stays small.

/** Captured in the browser over the DevTools protocol. */
export const cdpCategories = ['console', 'page', 'interaction', 'network'] as const
/** Events about the session itself. On by default for clients that know these categories. */
export const operationalCategories = ['control', 'connection', 'system', 'captcha'] as const
export const categories = [...cdpCategories, ...operationalCategories, 'screenshot'] as const
export type Category = (typeof categories)[number]

/** Categories of events. `monitor` belongs to the browser categories and cannot be selected. */
export const eventCategories = [...categories, 'monitor'] as const
export type EventCategory = (typeof eventCategories)[number]

/** All event types and their categories. */
export const categoryOfType = {
  console_log: 'console',
  console_error: 'console',
  network_request: 'network',
  network_response: 'network',
  network_loading_failed: 'network',
  network_idle: 'network',
  proxy_error: 'network',
  page_navigation: 'page',
  page_dom_content_loaded: 'page',
  page_load: 'page',
  page_tab_opened: 'page',
  page_layout_shift: 'page',
  page_lcp: 'page',
  page_layout_settled: 'page',
  page_navigation_settled: 'page',
  interaction_click: 'interaction',
  interaction_key: 'interaction',
  interaction_scroll_settled: 'interaction',
  monitor_screenshot: 'screenshot',
  monitor_disconnected: 'monitor',
  monitor_reconnected: 'monitor',
  monitor_reconnect_failed: 'monitor',
  monitor_init_failed: 'monitor',
  // Ours: the oldest events of the project were deleted, because it may not store more.
  monitor_events_deleted: 'monitor',
  api_call: 'control',
  cdp_connect: 'connection',
  cdp_disconnect: 'connection',
  live_view_connect: 'connection',
  live_view_disconnect: 'connection',
  captcha_solve_result: 'captcha',
  system_oom_kill: 'system',
  service_crashed: 'system',
  // Ours: something in the session plays sound, and all is silent again.
  sound_start: 'system',
  sound_stop: 'system',
} as const satisfies Readonly<Record<string, EventCategory>>
export type EventType = keyof typeof categoryOfType

export const sourceKinds = ['cdp', 'kernel_api', 'extension', 'local_process'] as const

/** Bytes that are kept of a text body: of structured text such as JSON, XML and forms, and of other text. */
export const MAX_STRUCTURED_BODY = 8 * 1024
export const MAX_OTHER_BODY = 4 * 1024

/** Of an answer that egress itself gives to a plain HTTP request; no website's answer has it. */
export const PROXY_ERROR_HEADER = 'X-Kernel-Proxy-Error'
export const proxyErrorCodes = [
  'destination_blocked',
  'provider_blacklisted',
  'provider_unreachable',
  'proxy_unavailable',
  'upstream_timeout',
  'upstream_dns_failure',
  'upstream_connect_failed',
] as const
export type ProxyErrorCode = (typeof proxyErrorCodes)[number]
