// Prometheus metrics of this server. Each module adds its own.
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'
import { RequestDurations } from './request-durations.ts'

/** Values are read when the metrics are requested. */
export interface Reading<Value> {
  readonly name: string
  readonly help: string
  readonly read: () => Value
}

export class Metrics {
  readonly #registry = new Registry()
  readonly requestDurations = new RequestDurations()

  constructor() {
    // Each sample wakes the process; a shorter interval would dominate the CPU time of an idle server.
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: 200 })
  }

  gauge({ name, help, read }: Reading<number>): void {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.set(read())
      },
    })
  }

  /** One value for each label value. */
  gaugeBy(label: string, { name, help, read }: Reading<Readonly<Record<string, number>>>): void {
    new Gauge<string>({
      name,
      help,
      labelNames: [label],
      registers: [this.#registry],
      collect() {
        for (const [key, value] of Object.entries(read())) this.set({ [label]: key }, value)
      },
    })
  }

  counter({ name, help, read }: Reading<number>): void {
    new Counter({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.reset()
        this.inc(read())
      },
    })
  }

  /** One count for each label value. */
  counterBy(label: string, { name, help, read }: Reading<Readonly<Record<string, number>>>): void {
    new Counter<string>({
      name,
      help,
      labelNames: [label],
      registers: [this.#registry],
      collect() {
        this.reset()
        for (const [key, value] of Object.entries(read())) this.inc({ [label]: key }, value)
      },
    })
  }

  async render(): Promise<string> {
    return `${await this.#registry.metrics()}\n${this.requestDurations.render()}`
  }
}
