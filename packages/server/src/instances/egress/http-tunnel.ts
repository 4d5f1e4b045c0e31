import type { Duplex } from 'node:stream'
import { readThrough } from './handshake.ts'
import { basicCredentials, ProxyFailure, type TargetTrouble } from './proxy-failure.ts'
import type { UpstreamProxy } from './route.ts'
import { authorityOf, type Target } from './target.ts'

const MAX_HEAD_BYTES = 64 * 1024

/** Opens a tunnel with CONNECT (RFC 9110, section 9.3.6). Afterwards the stream leads to the target. */
export async function openHttpTunnel(
  stream: Duplex,
  { target, proxy, signal }: { target: Target; proxy: UpstreamProxy; signal: AbortSignal },
): Promise<void> {
  const authority = authorityOf(target)
  const credentials = basicCredentials(proxy)
  stream.write(
    `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n` +
      `${credentials === undefined ? '' : `Proxy-Authorization: ${credentials}\r\n`}\r\n`,
  )
  const head = await readThrough(stream, '\r\n\r\n', { maxBytes: MAX_HEAD_BYTES, signal })
  const [, status] = /^HTTP\/1\.[01] (\d{3})/.exec(head.toString('latin1')) ?? []
  if (status === undefined) throw new ProxyFailure('does not speak HTTP')
  if (status === '407') throw new ProxyFailure('refuses its credentials')
  if (!status.startsWith('2')) throw new ProxyFailure(`answers ${status}`, { trouble: troubles.get(status) })
}

/** As proxies usually mean them. */
const troubles: ReadonlyMap<string, TargetTrouble> = new Map([
  ['403', 'refused'],
  ['451', 'refused'],
  ['502', 'unreachable'],
  ['503', 'unreachable'],
  ['504', 'silent'],
])
