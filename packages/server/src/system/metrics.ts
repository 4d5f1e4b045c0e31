// Prometheus metrics of this server.
import type { FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

export interface MetricSources {
  readonly pool: Pool
  readonly droppedLogLines: () => number
  readonly droppedAuditRecords: () => number
}

export class Metrics {
  readonly #registry = new Registry()
  readonly #requests: Histogram<'method' | 'route' | 'status'>

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

  observeRequest(request: FastifyRequest, status: number, elapsedMs: number): void {
    const route = request.routeOptions.url ?? 'none'
    this.#requests.observe({ method: request.method, route, status }, elapsedMs / 1000)
  }

  render(): Promise<string> {
    return this.#registry.metrics()
  }
}
