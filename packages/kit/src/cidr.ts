import { isIP } from 'node:net'

export interface Cidr {
  readonly address: string
  readonly prefix: number
  readonly family: 'ipv4' | 'ipv6'
}

/** `10.0.0.0/8`, `fd00::/8`, or a single address. */
export function parseCidr(value: string): Cidr | undefined {
  const [address = '', prefixText, ...rest] = value.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return undefined
  const widest = version === 6 ? 128 : 32
  if (prefixText !== undefined && !/^\d{1,3}$/.test(prefixText)) return undefined
  const prefix = prefixText === undefined ? widest : Number(prefixText)
  if (prefix > widest) return undefined
  return { address, prefix, family: version === 6 ? 'ipv6' : 'ipv4' }
}
