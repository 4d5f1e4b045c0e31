// Streams the events of a deployment or an invocation: first the stored ones, then new ones, until it ends.
import type { Readable } from 'node:stream'
import type { DeploymentEvent } from '@berth/contracts/deployments'
import type { InvocationEvent } from '@berth/contracts/invocations'
import type { Db } from '../../platform/database/schema.ts'
import { findDeployment } from '../deployments/store.ts'
import type { DeploymentRecord } from '../deployments/types.ts'
import { toDeployment } from '../deployments/view.ts'
import { FollowedEvents } from '../../http/followed-events.ts'
import { findInvocation } from '../invocations/store.ts'
import type { InvocationRecord } from '../invocations/types.ts'
import { toInvocation } from '../invocations/view.ts'
import { readMoment } from '../../sessions/telemetry/moment.ts'
import { readEvents, type LogLine, type StateChange, type StoredEvent } from '../core/events.ts'
import { places, type DeploymentLock } from '../core/lock.ts'
import { toAppVersion } from '../core/service.ts'
import { findAppVersionById } from '../core/store.ts'

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
  readonly #followed: FollowedEvents

  constructor(db: Db, options: { heartbeatMs?: number } = {}) {
    this.#db = db
    this.#followed = new FollowedEvents(options)
  }

  /** Call it when the deployment has new events. */
  changed(deploymentId: string): void {
    this.#followed.changed(deploymentId)
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
    const sent = { after: 0, hasState: false }
    return this.#followed.follow(subject.deploymentId, () => this.#look(subject, from, sent))
  }

  async *#look(
    subject: Subject,
    since: Date | null,
    sent: { after: number; hasState: boolean },
  ): AsyncGenerator<Event, 'look again' | 'wait' | 'end'> {
    const { deploymentId, invocationId } = subject
    // Read before the events, so that the final events are among them.
    const { isOver, event: last } = await subject.state()
    const events = await readEvents(this.#db, { deploymentId, invocationId, after: sent.after, since })
    for (const event of events) {
      sent.after = event.seq
      sent.hasState ||= event.kind.endsWith('_state')
      yield* await subject.toEvents(event)
    }
    if (events.length > 0) return 'look again'
    if (isOver && !sent.hasState) yield last
    return isOver ? 'end' : 'wait'
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
