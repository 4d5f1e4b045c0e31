import type { DeliveryState } from '@berth/contracts/webhooks'
import { Badge, type Tone } from '../../parts/Badge.tsx'

export const stateWords: Readonly<Record<DeliveryState, string>> = {
  pending: 'Waits',
  delivered: 'Delivered',
  failed: 'Given up',
}
const tones: Readonly<Record<DeliveryState, Tone>> = { pending: 'warn', delivered: 'good', failed: 'bad' }

export function DeliveryBadge({ state }: { state: DeliveryState }) {
  return <Badge tone={tones[state]}>{stateWords[state]}</Badge>
}
