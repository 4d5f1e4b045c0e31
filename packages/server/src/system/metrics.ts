// Prometheus metrics of this server.
import type { Pool } from 'pg'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

export interface MetricSources {
  readonly pool: Pool
  readonly droppedLogLines: () => number
  readonly droppedAuditRecords: () => number
}

/** Bounded by the contract: routes, methods and statuses are all from it. */
interface RequestLabels {
  readonly method: string
  readonly route: string
  readonly status: number
}

export class Metrics {
  readonly #registry = new Registry()
  readonly #requests: Histogram<'method' | 'route' | 'status'>
  /** Found by one text instead of by hashing labels on every request. */
  readonly #series = new Map<string, Histogram.Internal<'method' | 'route' | 'status'>>()

  constructor({ pool, droppedLogLines, droppedAuditRecords }: MetricSources) {
    const registers = [this.#registry]
    collectDefaultMetrics({ register: this.#registry })
    this.#requests = new Histogram({
      name: 'berth_http_request_duration_seconds',
      help: 'Time until an answer was sent',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    })
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
    countOf('berth_log_lines_dropped_total', 'Log lines a blocked reader cost', droppedLogLines)
    countOf(
      'berth_audit_records_dropped_total',
      'Audit records lost while the database was away',
      droppedAuditRecords,
    )

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

  observeRequest({ method, route, status }: RequestLabels, elapsedMs: number): void {
    const key = `${status} ${method} ${route}`
    let series = this.#series.get(key)
    if (!series) this.#series.set(key, (series = this.#requests.labels(method, route, String(status))))
    series.observe(elapsedMs / 1000)
  }

  render(): Promise<string> {
    return this.#registry.metrics()
  }
}
