// Writes the raw samples of a run to bench-results/.
import { mkdirSync, writeFileSync } from 'node:fs'
import { arch, cpus, loadavg, release, totalmem } from 'node:os'
import { join } from 'node:path'

export const resultsDir = join(import.meta.dirname, '../../bench-results')

/** The machine and the software behind the numbers; without them, runs cannot be compared. */
export function machine(): object {
  return {
    node: process.version,
    kernel: release(),
    arch: arch(),
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memoryBytes: totalmem(),
    load: loadavg(),
  }
}

export function writeResults(name: string, content: object): string {
  mkdirSync(resultsDir, { recursive: true })
  const file = join(resultsDir, `${name}.json`)
  writeFileSync(file, `${JSON.stringify(content, null, 1)}\n`)
  return file
}
