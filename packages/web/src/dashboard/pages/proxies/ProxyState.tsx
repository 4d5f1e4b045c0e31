import type { Proxy } from '@berth/contracts/proxies'
import { useIsMutating } from '@tanstack/react-query'
import { Badge } from '../../parts/Badge.tsx'
import { checkKey } from './use-check.ts'

export function ProxyState({ proxy: { id, status, ip_address: address } }: { proxy: Proxy }) {
  const isChecking = useIsMutating({ mutationKey: checkKey(id) }) > 0
  if (isChecking) return <Badge tone="accent">Checking…</Badge>
  if (status === undefined) return <Badge tone="quiet">Not checked</Badge>
  if (status === 'unavailable') return <Badge tone="bad">Does not work</Badge>
  return <Badge tone="good">{address ?? 'Works'}</Badge>
}
