import type { Invocation, InvocationResult } from '@berth/contracts/invocations'
import { toNanosecondTime } from '../core/clock.ts'
import { places, type DeploymentLock } from '../core/lock.ts'
import type { InvocationRecord } from './types.ts'

export function toInvocation(record: InvocationRecord, lock: DeploymentLock): Invocation {
  return {
    ...toResult(record, lock),
    app_name: record.app_name,
    version: record.version,
    started_at: toNanosecondTime(BigInt(record.started_ns)),
    finished_at: record.finished_at,
    ...(record.payload && { payload: lock.open(record.payload, places.payload(record.id)) }),
  }
}

export function toResult(record: InvocationRecord, lock: DeploymentLock): InvocationResult {
  return {
    id: record.id,
    action_name: record.action_name,
    status: record.status,
    ...(record.status_reason !== null && { status_reason: record.status_reason }),
    ...(record.output && { output: lock.open(record.output, places.output(record.id)) }),
  }
}
