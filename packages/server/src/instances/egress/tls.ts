import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect, rootCertificates, type TLSSocket } from 'node:tls'
import { ProxyFailure } from './proxy-failure.ts'

/**
 * TLS to a proxy. Its certificate must be good for its host, and signed by a public authority or by one of
 * the bundle: whoever could stand in for the proxy would get its password and see where sessions go.
 */
export function secure(
  socket: Duplex,
  options: { host: string; caBundle?: string; signal: AbortSignal },
): Promise<TLSSocket> {
  const { host, caBundle, signal } = options
  return new Promise((resolve, reject) => {
    const secured = connect({
      socket,
      host,
      ...(isIP(host) === 0 && { servername: host }),
      ...(caBundle !== undefined && { ca: [...rootCertificates, caBundle] }),
      ALPNProtocols: ['http/1.1'],
    })
    const settle = () => signal.removeEventListener('abort', onAbort)
    const onAbort = () => {
      secured.destroy()
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', onAbort)
    secured.once('secureConnect', () => {
      settle()
      resolve(secured)
    })
    // Stays for the life of the socket.
    secured.on('error', (cause: NodeJS.ErrnoException) => {
      settle()
      const why = `cannot be trusted, or does not speak TLS (${cause.code ?? 'no reason given'})`
      reject(new ProxyFailure(why, { cause }))
      socket.destroy()
    })
    secured.once('close', () => {
      settle()
      reject(new ProxyFailure('broke off the connection'))
    })
  })
}
