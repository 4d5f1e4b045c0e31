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
