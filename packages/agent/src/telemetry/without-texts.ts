// An event without anything that a page could have written into it. A page can encode a secret in more ways than can be
// listed: legacy charsets, escapes, its own codes. So once a secret was typed, only what is known to be harmless stays.

import { proxyErrorCodes } from '@berth/contracts/telemetry-events'

const MARKER = '[redacted]'

/** Fields whose texts come from Chromium or from us, with the shape that they have. */
const KEPT: Readonly<Record<string, RegExp>> = {
  kind: /^[a-z_]{1,20}$/,
  event: /^[A-Za-z.]{1,60}$/,
  session_id: /^[\w.-]{1,64}$/,
  target_id: /^[\w.-]{1,64}$/,
  target_type: /^[a-z_]{1,30}$/,
  frame_id: /^[\w.-]{1,64}$/,
  loader_id: /^[\w.-]{1,64}$/,
  request_id: /^[\w.-]{1,64}$/,
  code: new RegExp(`^(${proxyErrorCodes.join('|')})$`),
  // Pages may invent methods.
  method: /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/,
  resource_type: /^[A-Za-z]{1,30}$/,
  initiator_type: /^[A-Za-z]{1,30}$/,
  error_text: /^net::ERR_[A-Z_\d]{1,60}$/,
  level: /^[A-Za-z]{1,20}$/,
  reason: /^[a-z_]{1,40}$/,
  step: /^[a-z ]{1,40}$/,
  service_name: /^[\w-]{1,40}$/,
  phase: /^[a-z_]{1,20}$/,
  protocol: /^[\w./-]{1,20}$/,
  remote_address: /^[\d.:a-f[\]]{1,60}$/,
  encoded_bytes: /^\d{1,20}$/,
  body_bytes: /^\d{1,20}$/,
  wait_ms: /^[\d.]{1,20}$/,
  from_cache: /^true$/,
}

export function withoutTexts<T extends object>(value: T): T {
  // SAFETY: the result has the same shape; only texts and headers differ.
  return blank('', value) as T
}

function blank(name: string, value: unknown): unknown {
  if (typeof value === 'string') return KEPT[name]?.test(value) ? value : placeOf(value)
  if (Array.isArray(value)) return value.map((each) => blank('', each))
  if (typeof value !== 'object' || value === null) return value
  // Pages choose the names of headers, too.
  if (name === 'headers') return {}
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, blank(key, each)]))
}

/** Of an address, its host stays: it is where the login went. */
function placeOf(text: string): string {
  const url = /^https?:\/\//.test(text) ? URL.parse(text) : null
  return url ? `${url.origin}/${MARKER}` : MARKER
}
