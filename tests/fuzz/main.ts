// npm run fuzz -- --requests N --seed S
import { parseArgs } from 'node:util'
import { fuzz } from './run.ts'

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
const requests = Number(values.requests)
const seed = Number(values.seed)
if (!Number.isSafeInteger(requests) || requests < 1 || !Number.isSafeInteger(seed)) {
  throw new Error('Usage: npm run fuzz -- [--requests N] [--seed S]')
}

const cleanups: (() => void | Promise<void>)[] = []
const startedAt = performance.now()
try {
  console.log(`Fuzzing with ${requests} requests and seed ${seed}`)
  const { table, problems } = await fuzz(
    { after: (cleanup) => void cleanups.push(cleanup) },
    { requests, seed, onProgress: (sent) => console.log(`${sent} of ${requests}, ${seconds()} s`) },
  )
  console.log(table)
  console.log(`Took ${seconds()} s`)
  if (problems.length > 0) {
    console.error(`Failed with seed ${seed}:\n${problems.join('\n')}`)
    process.exitCode = 1
  }
} finally {
  for (const cleanup of cleanups.toReversed()) await cleanup()
}

function seconds(): string {
  return ((performance.now() - startedAt) / 1000).toFixed(0)
}
