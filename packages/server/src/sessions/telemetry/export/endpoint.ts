// Where a destination's collector is. The address is judged when it is set, and again at each delivery, because names
// may lead elsewhere by then.
import { EgressRefusal } from '../../../instances/egress/refusal.ts'
import { readConnectTarget, type Target } from '../../../instances/egress/target.ts'
import { DirectUpstream, type DirectUpstreamOptions } from '../../../instances/egress/upstream.ts'
import { invalidInput } from '../../../platform/errors/app-error.ts'

const SIGNAL_PATH = /\/v1\/(logs|traces|metrics)\/*$/i

/** Throws for anything but the base URL of a collector. */
export function checkEndpoint(text: string): URL {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    throw invalidInput('endpoint', 'must be an http or https URL, such as https://collector.example:4318')
  }
  if (url.username || url.password) {
    throw invalidInput('endpoint', 'must not have a user name or password; use headers')
  }
  if (/[?#]/.test(text)) throw invalidInput('endpoint', 'must not have a query or a fragment')
  const [, signal] = SIGNAL_PATH.exec(url.pathname) ?? []
  if (signal !== undefined) {
    throw invalidInput('endpoint', `must be the base URL without /v1/${signal}, which is appended`)
  }
  return url
}

/** Throws when the endpoint leads to an address that exports may not reach, or to none. */
export async function checkAddress(
  url: URL,
  options: DirectUpstreamOptions,
  signal: AbortSignal,
): Promise<void> {
  using direct = new DirectUpstream(options)
  try {
    await direct.resolve(targetOf(url), signal)
  } catch (error) {
    if (!(error instanceof EgressRefusal)) throw error
    const hint =
      error.code === 'egress_denied' ? '; the operator can allow it with BERTH_TELEMETRY_EXPORT_ALLOW' : ''
    throw invalidInput('endpoint', `cannot be used: ${error.message}${hint}`)
  }
}

/** Where log records go. */
export const logsPathOf = (url: URL): string => `${url.pathname.replace(/\/+$/, '')}/v1/logs`

export function targetOf(url: URL): Target {
  return readConnectTarget(`${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`)
}
