// SOCKS 5 (RFC 1928) with user name and password (RFC 1929), the client's part. Names are sent
// unresolved: the proxy resolves them.
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { parseAddress } from './address.ts'
import { readExactly } from './handshake.ts'
import { ProxyFailure, type TargetTrouble } from './proxy-failure.ts'
import type { UpstreamProxy } from './route.ts'
import type { Target } from './target.ts'

const VERSION = 5
const NO_AUTHENTICATION = 0
const PASSWORD = 2
const CONNECT = 1
const ADDRESS_V4 = 1
const NAME = 3
const ADDRESS_V6 = 4

/** RFC 1928, section 6. */
const troubles: ReadonlyMap<number, TargetTrouble> = new Map([
  [2, 'refused'],
  [3, 'unreachable'],
  [4, 'unreachable'],
  [5, 'unreachable'],
  [6, 'silent'],
])

/** Afterwards the stream leads to the target. */
export async function openSocksTunnel(
  stream: Duplex,
  { target, proxy, signal }: { target: Target; proxy: UpstreamProxy; signal: AbortSignal },
): Promise<void> {
  const { username, password = '' } = proxy
  const methods = username === undefined ? [NO_AUTHENTICATION] : [NO_AUTHENTICATION, PASSWORD]
  stream.write(Buffer.from([VERSION, methods.length, ...methods]))
  const [version, method] = await readExactly(stream, 2, signal)
  if (version !== VERSION) throw new ProxyFailure('does not speak SOCKS 5')
  if (method === PASSWORD && username !== undefined) {
    stream.write(Buffer.concat([Buffer.from([1]), counted(username), counted(password)]))
    const [, status] = await readExactly(stream, 2, signal)
    if (status !== 0) throw new ProxyFailure('refuses its credentials')
  } else if (method !== NO_AUTHENTICATION) throw new ProxyFailure('refuses its credentials')

  const port = Buffer.alloc(2)
  port.writeUInt16BE(target.port)
  stream.write(Buffer.concat([Buffer.from([VERSION, CONNECT, 0]), destination(target.host), port]))
  const [, reply, , kind] = await readExactly(stream, 4, signal)
  if (reply !== 0) {
    throw new ProxyFailure(`answers with SOCKS error ${reply}`, { trouble: troubles.get(reply!) })
  }
  // The proxy's bound address, which we ignore.
  await readExactly(stream, (await lengthOf(kind, stream, signal)) + 2, signal)
}

function destination(host: string): Buffer {
  if (isIP(host) === 0) return Buffer.concat([Buffer.from([NAME]), counted(host)])
  const bytes = parseAddress(host)!.toByteArray()
  return Buffer.from([bytes.length === 4 ? ADDRESS_V4 : ADDRESS_V6, ...bytes])
}

async function lengthOf(kind: number | undefined, stream: Duplex, signal: AbortSignal): Promise<number> {
  if (kind === ADDRESS_V4) return 4
  if (kind === ADDRESS_V6) return 16
  if (kind === NAME) return (await readExactly(stream, 1, signal))[0]!
  throw new ProxyFailure('does not speak SOCKS 5')
}

function counted(text: string): Buffer {
  const bytes = Buffer.from(text)
  if (bytes.length > 255) throw new ProxyFailure('takes no names or passwords longer than 255 bytes')
  return Buffer.concat([Buffer.from([bytes.length]), bytes])
}
