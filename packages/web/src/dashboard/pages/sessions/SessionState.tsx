import type { Browser, EndReason } from '@berth/contracts/browsers'
import { Badge, type Tone } from '../../parts/Badge.tsx'

const ends: Readonly<Partial<Record<EndReason, { readonly text: string; readonly tone: Tone }>>> = {
  deleted: { text: 'deleted', tone: 'quiet' },
  timed_out: { text: 'timed out', tone: 'quiet' },
  released: { text: 'released', tone: 'quiet' },
  server_stopped: { text: 'server stopped', tone: 'warn' },
  crashed: { text: 'crashed', tone: 'bad' },
  out_of_memory: { text: 'out of memory', tone: 'bad' },
  start_failed: { text: 'start failed', tone: 'bad' },
  lost: { text: 'lost', tone: 'bad' },
}

export function EndBadge({ reason }: { reason: EndReason }) {
  // A server may be newer than the page.
  const { text, tone } = ends[reason] ?? {
    text: reason,
    tone: 'warn',
  }
  return <Badge tone={tone}>{text}</Badge>
}

export function SessionState({
  session,
}: {
  session: Pick<Browser, 'state' | 'standby' | 'deleted_at' | 'end_reason'>
}) {
  const { state, standby, deleted_at: endedAt, end_reason: reason } = session
  if (endedAt !== undefined || state === 'ended') return <EndBadge reason={reason ?? 'deleted'} />
  if (state === 'standby')
    return <Badge tone="accent">{standby === 'deep' ? 'deep standby' : 'standby'}</Badge>
  return <Badge tone="good">ready</Badge>
}
