// Streams the events of a deployment or an invocation as server-sent events: first the stored ones, then new ones,
// until it ends. Every frame is one line of JSON that we wrote, so its content cannot fake another frame.
import { Readable } from 'node:stream'
import type { DeploymentEvent } from '@berth/contracts/deployments'
import type { InvocationEvent } from '@berth/contracts/invocations'
import { pause } from '@berth/kit/pause'
import type { Db } from '../../platform/database/schema.ts'
import { findDeployment } from '../deployments/store.ts'
import type { DeploymentRecord } from '../deployments/types.ts'
import { toDeployment } from '../deployments/view.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { findInvocation } from '../invocations/store.ts'
import type { InvocationRecord } from '../invocations/types.ts'
import { toInvocation } from '../invocations/view.ts'
import { readMoment } from '../../sessions/telemetry/moment.ts'
import { readEvents, type LogLine, type StateChange, type StoredEvent } from '../core/events.ts'
import { places, type DeploymentLock } from '../core/lock.ts'
import { toAppVersion } from '../core/service.ts'
import { findAppVersionById } from '../core/store.ts'

const HEARTBEAT_MS = 15_000
/** Announcements may be missed while their connection is down. */
const LOOK_EVERY_MS = 2_000
const RETRY_MS = 1_000
const MAX_STREAMS = 1_000

type Event = DeploymentEvent | InvocationEvent

/** The followed deployment or invocation. */
interface Subject {
  readonly deploymentId: string
  readonly invocationId: string | null
  readonly lock: DeploymentLock
  /** Whether it has ended, and the final event to send if no state was sent. */
  readonly state: () => Promise<{ isOver: boolean; event: Event }>
  /** Converts one stored event. */
  readonly toEvents: (event: StoredEvent) => Promise<Event[]>
}

export class AppStreams {
  readonly #db: Db
  readonly #heartbeatMs: number
  readonly #waiting = new Map<string, Set<() => void>>()
  #count = 0

  constructor(db: Db, { heartbeatMs = HEARTBEAT_MS }: { heartbeatMs?: number } = {}) {
    this.#db = db
    this.#heartbeatMs = heartbeatMs
  }

  /** Call it when the deployment has new events. */
  changed(deploymentId: string): void {
    for (const wake of this.#waiting.get(deploymentId) ?? []) wake()
  }

  ofDeployment(record: DeploymentRecord, lock: DeploymentLock, since: string | undefined): Readable {
    const { id } = record
    return this.#open(since, {
      deploymentId: id,
      invocationId: null,
      lock,
      state: async () => {
        const now = (await findDeployment(this.#db, null, id)) ?? record
        return {
          isOver: now.status === 'failed' || now.status === 'stopped',
          event: stateEvent(now, new Date().toISOString()),
        }
      },
      toEvents: async (event) => {
        const content = contentOf(event, id, lock)
        if (event.kind === 'deployment_state') {
          const { status, reason } = content as StateChange
          const then = {
            ...record,
            status,
            status_reason: reason,
            updated_at: event.createdAt,
          } as DeploymentRecord
          return [stateEvent(then, event.createdAt)]
        }
        if (event.kind !== 'app_version_summary') return logEvents(content)
        const version = await findAppVersionById(this.#db, content as string)
        if (!version) return []
        const { deployment: _deployment, ...shown } = toAppVersion(version)
        return [{ event: 'app_version_summary', timestamp: event.createdAt, ...shown }]
      },
    })
  }

  ofInvocation(record: InvocationRecord, lock: DeploymentLock, since: string | undefined): Readable {
    const { id, deployment_id: deploymentId } = record
    const current = async () => (await findInvocation(this.#db, null, id)) ?? record
    return this.#open(since, {
      deploymentId,
      invocationId: id,
      lock,
      state: async () => {
        const now = await current()
        const invocation = toInvocation(now, lock)
        return {
          isOver: now.finished_at !== null,
          event: { event: 'invocation_state', timestamp: new Date().toISOString(), invocation },
        }
      },
      toEvents: async (event) => {
        const content = contentOf(event, deploymentId, lock)
        if (event.kind !== 'invocation_state') return logEvents(content)
        const { status, reason } = content as StateChange
        const now = await current()
        const isEnd = status === 'succeeded' || status === 'failed'
        const then = {
          ...now,
          status,
          status_reason: reason,
          ...(!isEnd && { finished_at: null, output: null }),
        } as InvocationRecord
        return [
          { event: 'invocation_state', timestamp: event.createdAt, invocation: toInvocation(then, lock) },
        ]
      },
    })
  }

  #open(since: string | undefined, subject: Subject): Readable {
    const from = since === undefined ? null : new Date(readMoment('since', since, Date.now() * 1000) / 1000)
    if (this.#count >= MAX_STREAMS) {
      throw new AppError('too_many_requests', 'Cannot follow it: too many streams are open on this server', {
        headers: { 'retry-after': '5' },
      })
    }
    this.#count++
    const closing = new AbortController()
    const stream = Readable.from(this.#frames(subject, from, closing.signal), { objectMode: false })
    stream.once('close', () => {
      this.#count--
      closing.abort()
    })
    return stream
  }

  async *#frames(subject: Subject, since: Date | null, signal: AbortSignal): AsyncGenerator<string> {
    const { deploymentId, invocationId } = subject
    // Sends the response headers, which wait for the first bytes.
    yield ': following\n\n'
    let after = 0
    let isStateSent = false
    let quietSince = performance.now()
    while (!signal.aborted) {
      const change = this.#change(deploymentId, signal)
      try {
        // Read before the events, so that the final events are among them.
        const { isOver, event: last } = await subject.state()
        const events = await readEvents(this.#db, { deploymentId, invocationId, after, since })
        for (const event of events) {
          after = event.seq
          isStateSent ||= event.kind.endsWith('_state')
          for (const each of await subject.toEvents(event)) yield frame(each)
        }
        if (events.length > 0) {
          quietSince = performance.now()
          continue
        }
        if (isOver) {
          if (!isStateSent) yield frame(last)
          return
        }
      } catch {
        // The database is down; continue when it is back.
        await pause(RETRY_MS, signal)
      }
      if (performance.now() - quietSince >= this.#heartbeatMs) {
        quietSince = performance.now()
        yield frame({ event: 'sse_heartbeat', timestamp: new Date().toISOString() })
      }
      await change
    }
  }

  /** Subscribes before the database is read, so that no change is missed. */
  #change(deploymentId: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(deploymentId) ?? new Set<() => void>()
      this.#waiting.set(deploymentId, waiting)
      const done = () => {
        clearTimeout(timer)
        waiting.delete(done)
        if (waiting.size === 0) this.#waiting.delete(deploymentId)
        signal.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(() => done(), Math.min(LOOK_EVERY_MS, this.#heartbeatMs))
      waiting.add(done)
      signal.addEventListener('abort', done)
    })
  }
}

function stateEvent(record: DeploymentRecord, timestamp: string): Event {
  return { event: 'deployment_state', timestamp, deployment: toDeployment(record) }
}

function contentOf({ payload, seq }: StoredEvent, deploymentId: string, lock: DeploymentLock): unknown {
  return JSON.parse(lock.open(payload, places.event(deploymentId, String(seq)))) as unknown
}

function logEvents(content: unknown): Event[] {
  return (content as LogLine[]).map(({ at, line }) => ({ event: 'log', timestamp: at, message: line }))
}

function frame(event: Event): string {
  return `data: ${JSON.stringify(event)}\n\n`
}
