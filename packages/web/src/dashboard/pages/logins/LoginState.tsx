import type { FlowStatus, FlowStep, ManagedAuth } from '@berth/contracts/auth-connections'
import { Badge, type Tone } from '../../parts/Badge.tsx'

export function LoginState({ login: { status } }: { login: Pick<ManagedAuth, 'status'> }) {
  return status === 'AUTHENTICATED' ? (
    <Badge tone="good">Logged in</Badge>
  ) : (
    <Badge tone="warn">Logged out</Badge>
  )
}

export const stepWords: Readonly<Record<FlowStep, string>> = {
  DISCOVERING: 'Looks at the page',
  AWAITING_INPUT: 'Waits for you',
  AWAITING_EXTERNAL_ACTION: 'Waits for you elsewhere',
  SUBMITTING: 'Sends what you entered',
  COMPLETED: 'Done',
}

const statusWords: Readonly<Record<FlowStatus, readonly [Tone, string]>> = {
  IN_PROGRESS: ['accent', 'In progress'],
  SUCCESS: ['good', 'Worked'],
  FAILED: ['bad', 'Failed'],
  EXPIRED: ['warn', 'Took too long'],
  CANCELED: ['quiet', 'Cancelled'],
}

export function FlowState({ login }: { login: Pick<ManagedAuth, 'flow_status' | 'flow_step'> }) {
  const { flow_status: status, flow_step: step } = login
  if (status == null) return <span className="quiet">None yet</span>
  const [tone, text] = statusWords[status]
  return <Badge tone={tone}>{status === 'IN_PROGRESS' && step != null ? stepWords[step] : text}</Badge>
}
