// A block of as many requests as the server takes, by wrk. The answer is looked at before and
// after, every status in between is counted, and what was put off to later is waited for and
// counted as CPU time: an audit record that is still to be written is not free.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { HttpAnswer, HttpRequest } from '../arms/http-client.ts'
import type { Stage } from '../arms/stage.ts'
import { load } from '../arms/wrk.ts'
import type { Block } from '../measure/pairs.ts'

const SETTLE_TIMEOUT_MS = 15_000
const QUIET_MS = 100

export interface LoadArm {
  readonly who: 'ours' | 'bare'
  readonly request: HttpRequest
  /** Asked for in turn under load, so that no two requests at a time are for the same thing. */
  readonly paths?: readonly string[]
  /** Whether each request must leave an audit record. */
  readonly isAudited: boolean
  /** The status of every answer. */
  readonly status: number
  check(body: unknown): void
}

export function loadBlock(
  stage: Stage,
  arm: LoadArm,
  options: { seconds: number; signal: AbortSignal },
): Block {
  return async () => {
    await probe(stage, arm)
    const recordsBefore = await countAuditRecords(stage)
    const before = stage.cpuMs()
    const report = await load(arm.request, { ...options, ...(arm.paths && { paths: arm.paths }) })
    const requests = report.requests
    assert.ok(requests > 0, 'wrk got no answer')
    assert.equal(report.socketErrors, 0, 'wrk lost connections')
    assert.equal(report.errorStatuses, arm.status >= 400 ? requests : 0, 'wrk got answers of another kind')
    const lateMs = arm.isAudited ? await auditWritten(stage, recordsBefore + requests) : 0
    await pause(QUIET_MS)
    const after = stage.cpuMs()
    const serverUs = (after[arm.who] - before[arm.who]) * 1000
    const postgresUs = (after.postgres - before.postgres) * 1000
    await probe(stage, arm)
    return {
      perSecond: requests / (report.durationUs / 1e6),
      cpuUs: serverUs / requests,
      cpuWithPostgresUs: (serverUs + postgresUs) / requests,
      p50Ms: report.p50Us / 1000,
      p95Ms: report.p95Us / 1000,
      lateMs,
    }
  }
}

async function probe(stage: Stage, arm: LoadArm): Promise<void> {
  const answer: HttpAnswer = await stage.http.send(arm.request)
  assert.equal(answer.status, arm.status, `${arm.who} answered ${answer.status}: ${answer.text}`)
  arm.check(JSON.parse(answer.text))
}

/** Returns how long it took after the last answer until every request was on record. */
async function auditWritten(stage: Stage, wanted: number): Promise<number> {
  const startedAt = performance.now()
  let count = await countAuditRecords(stage)
  while (count < wanted) {
    const elapsedMs = performance.now() - startedAt
    assert.ok(elapsedMs < SETTLE_TIMEOUT_MS, `${wanted - count} requests have left no audit record`)
    await pause(20)
    count = await countAuditRecords(stage)
  }
  return performance.now() - startedAt
}

/** The sequence knows without a scan of the table. */
async function countAuditRecords({ database }: Stage): Promise<number> {
  const { rows } = await database.query<{ count: string }>(
    'SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS count FROM audit_logs_id_seq',
  )
  return Number(rows[0]!.count)
}
