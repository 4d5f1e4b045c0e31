// Row 33 in two parts: the idle server (idle.ts) and its start (starts.ts).
import { compareIdle } from './idle.ts'
import type { ProcessRow } from './row.ts'
import { compareStarts } from './starts.ts'

export const atRestRow: ProcessRow = {
  number: 33,
  title: 'Idle server: CPU, memory and start time, against a bare Fastify process',
  async *measureProcesses(place, measuring) {
    yield await compareIdle(place, measuring)
    yield* compareStarts(place, measuring)
  },
}
