// Certificates in PEM, as a proxy's ca_bundle has them.
import { X509Certificate } from 'node:crypto'

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** Undefined for text that is anything but certificates, one at least. */
export function readCertificates(bundle: string): X509Certificate[] | undefined {
  const blocks = bundle.match(PEM) ?? []
  if (blocks.length === 0 || bundle.replaceAll(PEM, '').includes('-----BEGIN')) return undefined
  try {
    return blocks.map((pem) => new X509Certificate(pem))
  } catch {
    return undefined
  }
}

/** DER in base64, as Chromium's policies have them. */
export function certificatesIn(bundle: string): string[] {
  return (readCertificates(bundle) ?? []).map(({ raw }) => raw.toString('base64'))
}
