// Every retention task, in the order in which they run.
import { appLogRetention } from './apps/core/retention.ts'
import { invocationRetention } from './apps/invocations/retention.ts'
import type { Config } from './config/config.ts'
import { idempotencyRetention } from './http/idempotency.ts'
import { loginRetention } from './logins/connections/retention.ts'
import type { Blobs } from './platform/blobs/blobs.ts'
import { blobSweep } from './platform/blobs/housekeeping.ts'
import type { HousekeepingTask } from './platform/jobs/housekeeping.ts'
import { handoverRetention } from './sessions/handovers/retention.ts'
import { policyRetention } from './sessions/policies/retention.ts'
import { replayRetention } from './sessions/replays/retention.ts'
import { telemetryRetention } from './sessions/telemetry/retention.ts'
import { auditRetention } from './tenancy/audit/retention.ts'
import { signInRetention } from './tenancy/sign-ins/retention.ts'
import { webhookRetention } from './tenancy/webhooks/retention.ts'

type RetentionSettings = Pick<Config, Extract<keyof Config, `${string}_RETENTION_DAYS`>>

export function housekeepingTasks(config: RetentionSettings, blobs: Blobs): readonly HousekeepingTask[] {
  return [
    idempotencyRetention,
    ...telemetryRetention(config.BERTH_TELEMETRY_RETENTION_DAYS),
    auditRetention(config.BERTH_AUDIT_RETENTION_DAYS),
    signInRetention,
    ...webhookRetention(config.BERTH_WEBHOOK_RETENTION_DAYS),
    policyRetention,
    handoverRetention,
    appLogRetention(config.BERTH_APP_LOG_RETENTION_DAYS),
    invocationRetention(config.BERTH_INVOCATION_RETENTION_DAYS),
    loginRetention(config.BERTH_LOGIN_RETENTION_DAYS),
    replayRetention({ blobs, days: config.BERTH_REPLAY_RETENTION_DAYS }),
    blobSweep(blobs),
  ]
}
