// Which certificates of other servers this one accepts.
import { X509Certificate } from 'node:crypto'
import type { RequestOptions } from 'node:https'
import { checkServerIdentity, rootCertificates, type PeerCertificate } from 'node:tls'

/**
 * Servers that share one certificate use addresses that are not in it, so they compare the certificate itself. Without a
 * certificate of its own, a server accepts what Node accepts.
 */
export function trust(certificate: Buffer | undefined): RequestOptions {
  if (!certificate) return {}
  const own = new X509Certificate(certificate).fingerprint256
  return {
    ca: [...rootCertificates, certificate],
    allowPartialTrustChain: true,
    checkServerIdentity: (host: string, peer: PeerCertificate) =>
      peer.fingerprint256 === own ? undefined : checkServerIdentity(host, peer),
  }
}
