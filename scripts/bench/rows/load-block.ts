// One block of maximum load, sent with wrk. The answer is checked before and after, every status is counted, and
// audit records that are written later are waited for and count as CPU time.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { HttpAnswer, HttpRequest } from '../subjects/http-client.ts'
import type { ApiSetup } from '../subjects/api-setup.ts'
import { load } from '../subjects/wrk.ts'
import type { Block } from '../measure/pairs.ts'

const SETTLE_TIMEOUT_MS = 15_000
const QUIET_MS = 100

export interface LoadTarget {
  readonly who: 'ours' | 'bare'
  readonly request: HttpRequest
  /** Requested in turn, so that concurrent requests ask for different things. */
  readonly paths?: readonly string[]
  /** Whether each request must leave an audit record. */
  readonly isAudited: boolean
  /** The status of every answer. */
  readonly status: number
  check(body: unknown): void
}

export function loadBlock(
  setup: ApiSetup,
  target: LoadTarget,
  options: { seconds: number; signal: AbortSignal },
): Block {
  return async () => {
    await probe(setup, target)
    const recordsBefore = await countAuditRecords(setup)
    const before = setup.cpuMs()
    const report = await load(target.request, { ...options, ...(target.paths && { paths: target.paths }) })
    const requests = report.requests
    assert.ok(requests > 0, 'wrk got no answer')
    assert.equal(report.socketErrors, 0, 'wrk lost connections')
    assert.equal(
      report.errorStatuses,
      target.status >= 400 ? requests : 0,
      'wrk got answers with an unexpected status',
    )
    const lateMs = target.isAudited ? await auditWritten(setup, recordsBefore + requests) : 0
    await pause(QUIET_MS)
    const after = setup.cpuMs()
    const serverUs = (after[target.who] - before[target.who]) * 1000
    const postgresUs = (after.postgres - before.postgres) * 1000
    await probe(setup, target)
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

async function probe(setup: ApiSetup, target: LoadTarget): Promise<void> {
  const answer: HttpAnswer = await setup.http.send(target.request)
  assert.equal(answer.status, target.status, `${target.who} answered ${answer.status}: ${answer.text}`)
  target.check(JSON.parse(answer.text))
}

/** Returns how long after the last answer every request had its audit record. */
async function auditWritten(setup: ApiSetup, wanted: number): Promise<number> {
  const startedAt = performance.now()
  let count = await countAuditRecords(setup)
  while (count < wanted) {
    const elapsedMs = performance.now() - startedAt
    assert.ok(elapsedMs < SETTLE_TIMEOUT_MS, `${wanted - count} requests have left no audit record`)
    await pause(20)
    count = await countAuditRecords(setup)
  }
  return performance.now() - startedAt
}

/** Reading the sequence needs no scan of the table. */
async function countAuditRecords({ database }: ApiSetup): Promise<number> {
  const { rows } = await database.query<{ count: string }>(
    'SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS count FROM audit_logs_id_seq',
  )
  return Number(rows[0]!.count)
}
