import type { Webhook } from '@berth/contracts/webhooks'
import { Badge } from '../../parts/Badge.tsx'

const disabledWords = { user: 'Disabled', failures: 'Gave up', receiver: 'Receiver gone' } as const

export function WebhookState({ webhook }: { webhook: Webhook }) {
  const { status, disabled_by: by, consecutive_failures: failures, last_success_at: at } = webhook
  if (status === 'disabled') {
    return <Badge tone={by === 'user' ? 'quiet' : 'bad'}>{disabledWords[by ?? 'user']}</Badge>
  }
  if (failures > 0) return <Badge tone="bad">Fails</Badge>
  return at === undefined ? <Badge tone="accent">Enabled</Badge> : <Badge tone="good">Works</Badge>
}
