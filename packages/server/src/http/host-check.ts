// Decides which Host headers are accepted. Without this check, a page that rebinds its own name to this
// machine could call the API from a browser.
import { isIP } from 'node:net'
import type { Config } from '../config/config.ts'
import { AppError } from '../platform/errors/app-error.ts'

type HostSettings = Pick<
  Config,
  'BERTH_HOST' | 'BERTH_PUBLIC_URL' | 'BERTH_INTERNAL_URL' | 'BERTH_ALLOWED_HOSTS'
>

export function newHostCheck(config: HostSettings): (host: string | undefined) => void {
  const names = new Set(['localhost', config.BERTH_HOST.toLowerCase(), ...config.BERTH_ALLOWED_HOSTS])
  for (const url of [config.BERTH_PUBLIC_URL, config.BERTH_INTERNAL_URL]) {
    if (url) names.add(hostName(url.host))
  }
  const isWildcard = config.BERTH_HOST === '0.0.0.0' || config.BERTH_HOST === '::'
  const accepted = new Set<string>()

  function isAllowed(host: string): boolean {
    const name = hostName(host)
    // A literal address cannot be rebound, so a wildcard listener accepts all of them.
    if (isIP(name) !== 0) return isWildcard || names.has(name) || name.startsWith('127.') || name === '::1'
    return names.has(name) || name.endsWith('.localhost')
  }

  return (host) => {
    if (host !== undefined && accepted.has(host)) return
    if (host === undefined || !/^[\w.:[\]-]{1,260}$/.test(host)) {
      throw new AppError('bad_request', 'Cannot accept the request: its Host header is missing or malformed')
    }
    if (!isAllowed(host)) {
      throw new AppError(
        'misdirected_request',
        `Cannot answer for host "${host}": add it to BERTH_ALLOWED_HOSTS if it is yours`,
      )
    }
    if (accepted.size < 64) accepted.add(host)
  }
}

/** A page may open a websocket only if it came from this server's public URL or the requested host. */
export function isOwnOrigin(config: HostSettings, origin: string, host: string | undefined): boolean {
  const url = URL.parse(origin)
  if (!url) return false
  return url.origin === config.BERTH_PUBLIC_URL?.origin || url.host === host
}

function hostName(host: string): string {
  const bracketed = /^\[([^\]]*)\](:\d+)?$/.exec(host)
  return (bracketed ? bracketed[1]! : host.replace(/:\d+$/, '')).toLowerCase()
}
