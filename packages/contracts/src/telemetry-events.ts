// The events of a session and what they belong to, without schemas: the agent has no use for those.

/** What is captured in the browser itself, by its debugging protocol. */
export const cdpCategories = ['console', 'page', 'interaction', 'network'] as const
/** What happens to a session; captured by default by clients that know of it. */
export const operationalCategories = ['control', 'connection', 'system', 'captcha'] as const
export const categories = [...cdpCategories, ...operationalCategories, 'screenshot'] as const
export type Category = (typeof categories)[number]

/** Of an event. `monitor` comes with what is captured in the browser, and cannot be chosen. */
export const eventCategories = [...categories, 'monitor'] as const
export type EventCategory = (typeof eventCategories)[number]

/** Every event there is, and its category. */
export const categoryOfType = {
  console_log: 'console',
  console_error: 'console',
  network_request: 'network',
  network_response: 'network',
  network_loading_failed: 'network',
  network_idle: 'network',
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
  api_call: 'control',
  cdp_connect: 'connection',
  cdp_disconnect: 'connection',
  live_view_connect: 'connection',
  live_view_disconnect: 'connection',
  captcha_solve_result: 'captcha',
  system_oom_kill: 'system',
  service_crashed: 'system',
} as const satisfies Readonly<Record<string, EventCategory>>
export type EventType = keyof typeof categoryOfType

export const sourceKinds = ['cdp', 'kernel_api', 'extension', 'local_process'] as const

/** Of a text body: what is kept of JSON, XML, forms and the like, and of other text. In bytes. */
export const MAX_STRUCTURED_BODY = 8 * 1024
export const MAX_OTHER_BODY = 4 * 1024
