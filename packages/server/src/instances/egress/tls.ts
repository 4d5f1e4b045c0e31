import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect, rootCertificates, type TLSSocket } from 'node:tls'
import { ProxyFailure } from './proxy-failure.ts'

/**
 * TLS to a proxy. Its certificate must be valid for its host and signed by a public authority or one of the
 * bundle: an impostor would get the proxy's password and see where sessions go.
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
    // Stays for the socket's lifetime.
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
