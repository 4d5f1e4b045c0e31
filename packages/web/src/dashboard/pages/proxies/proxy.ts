import { exitFieldNames, type Proxy } from '@berth/contracts/proxies'

export const titleOf = ({ name, id }: Pick<Proxy, 'name' | 'id'>) => name ?? id

/** Where the traffic leaves: the address of a proxy, or what was chosen of the operator's. */
export function exitOf({ type, config }: Proxy): string {
  if (type === 'custom') return `${config.host ?? ''}:${config.port ?? ''}`
  return exitFieldNames.flatMap((name) => config[name] ?? []).join(', ')
}
