// Runs many unit test files in one process. What they import is loaded once, which is most of the time of a small file.
// The runner passes the files in a variable.
import { after } from 'node:test'
import { pathToFileURL } from 'node:url'
import { BATCH } from './plan.ts'

const HOUR_MS = 3_600_000

const files = process.env[BATCH]?.split('\n') ?? []
// Only the batch itself shall take the list, not a process that one of its tests starts.
delete process.env[BATCH]

// A test may wait for a timer that does not keep a process alive, such as AbortSignal.timeout.
const keepingAlive = setInterval(() => {}, HOUR_MS)
for (const file of files) await import(pathToFileURL(file).href)
after(() => clearInterval(keepingAlive))
