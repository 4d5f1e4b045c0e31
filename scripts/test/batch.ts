// Runs many unit test files in one process, so that their imports are loaded only once: a small file spends most of its
// time on imports. The runner passes the files in an environment variable.
import { after } from 'node:test'
import { pathToFileURL } from 'node:url'
import { BATCH } from './plan.ts'

const HOUR_MS = 3_600_000

const files = process.env[BATCH]?.split('\n') ?? []
// Only the batch itself may read the list. A process that one of its tests starts must not inherit it.
delete process.env[BATCH]

// A test may wait for a timer that does not keep a process alive, such as AbortSignal.timeout.
const keepingAlive = setInterval(() => {}, HOUR_MS)
for (const file of files) await import(pathToFileURL(file).href)
after(() => clearInterval(keepingAlive))
