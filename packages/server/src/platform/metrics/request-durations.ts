// Request durations as a Prometheus histogram. We do not use prom-client, because it hashes the labels
// to find a series on every request.

const BOUNDS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 10_000]
const NAME = 'berth_http_request_duration_seconds'

interface Series {
  /** Requests in each bucket, not cumulative; the last bucket has no upper bound. */
  readonly counts: number[]
  sumMs: number
}

type ByStatus = Map<number, Series>

/** The contract bounds the number of series: it defines all routes, methods and statuses. */
export class RequestDurations {
  readonly #byRoute = new Map<string, Map<string, ByStatus>>()

  observe({ method, route, status }: { method: string; route: string; status: number }, ms: number): void {
    const series = this.#seriesOf(method, route, status)
    let bucket = 0
    while (bucket < BOUNDS_MS.length && ms > BOUNDS_MS[bucket]!) bucket++
    series.counts[bucket]!++
    series.sumMs += ms
  }

  #seriesOf(method: string, route: string, status: number): Series {
    const known = this.#byRoute.get(route)?.get(method)?.get(status)
    if (known) return known
    const byMethod = entry(this.#byRoute, route, () => new Map<string, ByStatus>())
    const byStatus = entry(byMethod, method, (): ByStatus => new Map())
    return entry(byStatus, status, () => ({
      counts: Array.from({ length: BOUNDS_MS.length + 1 }, () => 0),
      sumMs: 0,
    }))
  }

  render(): string {
    const lines = [`# HELP ${NAME} Time until an answer was sent`, `# TYPE ${NAME} histogram`]
    for (const [route, byMethod] of this.#byRoute) {
      for (const [method, byStatus] of byMethod) {
        for (const [status, { counts, sumMs }] of byStatus) {
          const labels = `method="${method}",route="${route}",status="${status}"`
          let count = 0
          counts.forEach((more, index) => {
            count += more
            const bound = index < BOUNDS_MS.length ? BOUNDS_MS[index]! / 1000 : '+Inf'
            lines.push(`${NAME}_bucket{le="${bound}",${labels}} ${count}`)
          })
          lines.push(`${NAME}_sum{${labels}} ${sumMs / 1000}`, `${NAME}_count{${labels}} ${count}`)
        }
      }
    }
    return `${lines.join('\n')}\n`
  }
}

function entry<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key)
  if (value === undefined) map.set(key, (value = make()))
  return value
}
