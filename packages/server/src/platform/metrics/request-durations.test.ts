import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestDurations } from './request-durations.ts'

test('RequestDurations counts into cumulative buckets', () => {
  const durations = new RequestDurations()
  const labels = { method: 'GET', route: '/things/:id', status: 200 }
  for (const ms of [0.5, 1, 3, 20_000]) durations.observe(labels, ms)
  durations.observe({ ...labels, status: 404 }, 7)
  const text = durations.render()
  const name = 'berth_http_request_duration_seconds'
  const series = 'method="GET",route="/things/:id",status="200"'
  for (const line of [
    `# TYPE ${name} histogram`,
    `${name}_bucket{le="0.001",${series}} 2`,
    `${name}_bucket{le="0.0025",${series}} 2`,
    `${name}_bucket{le="0.005",${series}} 3`,
    `${name}_bucket{le="10",${series}} 3`,
    `${name}_bucket{le="+Inf",${series}} 4`,
    `${name}_sum{${series}} 20.0045`,
    `${name}_count{${series}} 4`,
    `${name}_count{method="GET",route="/things/:id",status="404"} 1`,
  ]) {
    assert.ok(text.split('\n').includes(line), `${line} in\n${text}`)
  }
})
