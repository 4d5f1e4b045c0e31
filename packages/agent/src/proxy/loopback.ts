/**
 * The addresses of a loopback host, in the order to try; undefined for any other host. Expects the
 * `hostname` of a URL, which normalises every spelling of an address.
 */
export function loopbackAddresses(hostname: string): readonly string[] | undefined {
  const host = hostname.replace(/\.$/, '')
  if (host === 'localhost' || host.endsWith('.localhost')) return ['127.0.0.1', '::1']
  if (/^127\.\d+\.\d+\.\d+$/.test(host)) return [host]
  if (host === '[::1]') return ['::1']
  const mapped = /^\[::ffff:7f([0-9a-f]{2}):([0-9a-f]{1,4})\]$/.exec(host)
  if (!mapped) return undefined
  const low = parseInt(mapped[2]!, 16)
  return [`127.${parseInt(mapped[1]!, 16)}.${low >> 8}.${low & 0xff}`]
}
