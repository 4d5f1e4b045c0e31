import type { DeploymentStatus } from '@berth/contracts/deployments'
import type { InvocationStatus } from '@berth/contracts/invocations'
import { Badge, type Tone } from '../../parts/Badge.tsx'

const deployments: Readonly<Record<DeploymentStatus, readonly [Tone, string]>> = {
  queued: ['quiet', 'Waits'],
  in_progress: ['accent', 'Builds'],
  running: ['good', 'Ready'],
  failed: ['bad', 'Failed'],
  stopped: ['quiet', 'Stopped'],
}

const invocations: Readonly<Record<InvocationStatus, readonly [Tone, string]>> = {
  queued: ['quiet', 'Waits'],
  running: ['accent', 'Runs'],
  succeeded: ['good', 'Succeeded'],
  failed: ['bad', 'Failed'],
}

export function DeploymentState({ status }: { status: DeploymentStatus }) {
  const [tone, text] = deployments[status]
  return <Badge tone={tone}>{text}</Badge>
}

export function InvocationState({ status }: { status: InvocationStatus }) {
  const [tone, text] = invocations[status]
  return <Badge tone={tone}>{text}</Badge>
}
