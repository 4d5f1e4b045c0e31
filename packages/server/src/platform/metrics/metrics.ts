// Prometheus metrics of this server.
import type { Pool } from 'pg'
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'
import { kinds, type Kind } from '../../instances/instances.ts'
import { RequestDurations } from './request-durations.ts'

export interface MetricSources {
  readonly pool: Pool
  readonly droppedLogLines: () => number
  readonly droppedAuditRecords: () => number
  readonly droppedEvents: () => number
  readonly liveSessions: () => number
  readonly recordings: () => number
  readonly runningInvocations: () => number
  readonly runningLogins: () => number
  readonly readyInstances: (kind: Kind) => number
}

export class Metrics {
  readonly #registry = new Registry()
  readonly requestDurations = new RequestDurations()

  constructor({ pool, droppedLogLines, droppedAuditRecords, droppedEvents, ...sources }: MetricSources) {
    const registers = [this.#registry]
    // A wake-up each: more often would be most of what a server at rest does.
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: 200 })
    new Gauge({
      name: 'berth_database_connections',
      help: 'Connections to the database, by what they do',
      labelNames: ['state'],
      registers,
      collect() {
        this.set({ state: 'idle' }, pool.idleCount)
        this.set({ state: 'busy' }, pool.totalCount - pool.idleCount)
        this.set({ state: 'awaited' }, pool.waitingCount)
      },
    })
    new Gauge({
      name: 'berth_live_sessions',
      help: 'Browser sessions of this server',
      registers,
      collect() {
        this.set(sources.liveSessions())
      },
    })
    new Gauge({
      name: 'berth_recordings',
      help: 'Recordings under way in sessions of this server',
      registers,
      collect() {
        this.set(sources.recordings())
      },
    })
    new Gauge({
      name: 'berth_running_invocations',
      help: 'Invocations of apps that this server runs',
      registers,
      collect() {
        this.set(sources.runningInvocations())
      },
    })
    new Gauge({
      name: 'berth_running_logins',
      help: 'Login flows that this server runs',
      registers,
      collect() {
        this.set(sources.runningLogins())
      },
    })
    new Gauge({
      name: 'berth_warm_instances',
      help: 'Instances held ready for a session; empty: without a browser',
      labelNames: ['kind'],
      registers,
      collect() {
        for (const kind of kinds) this.set({ kind }, sources.readyInstances(kind))
      },
    })
    countOf('berth_log_lines_dropped_total', 'Log lines a blocked reader cost', droppedLogLines)
    countOf(
      'berth_audit_records_dropped_total',
      'Audit records lost while the database was away',
      droppedAuditRecords,
    )

    countOf('berth_telemetry_events_dropped_total', 'Events of sessions that were too many', droppedEvents)

    function countOf(name: string, help: string, read: () => number): void {
      new Counter({
        name,
        help,
        registers,
        collect() {
          this.reset()
          this.inc(read())
        },
      })
    }
  }

  async render(): Promise<string> {
    return `${await this.#registry.metrics()}\n${this.requestDurations.render()}`
  }
}
