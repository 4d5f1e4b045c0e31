// Server-sent events, as https://html.spec.whatwg.org/multipage/server-sent-events.html describes them. Each event is
// one line of JSON, so nothing in it can pass for another event.

/** Heartbeats keep proxies from closing the connection, and reveal clients that are gone. */
export const SSE_HEARTBEAT_MS = 15_000

/** Clients ignore it. The head of an answer goes with its first bytes, so a stream begins with one. */
export const sseComment = (text: string) => `: ${text}\n\n`

export const sseEvent = (value: object, id?: number) => sseEventOfJson(JSON.stringify(value), id)

/** For readers that go by the name of an event, which its JSON has too. */
export const sseNamedEvent = (value: { readonly event: string }) =>
  `event: ${value.event}\n${sseEvent(value)}`

/** Of JSON without line breaks, as JSON.stringify() writes it. */
export function sseEventOfJson(json: string, id?: number): string {
  return id === undefined ? `data: ${json}\n\n` : `id: ${id}\ndata: ${json}\n\n`
}
