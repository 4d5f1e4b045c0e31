// What takes too long for every change and is run before a release: `npm run soak`.
// `npm run soak -- --kills 50` for fewer kills than the usual 200.
import { parseArgs } from 'node:util'
import { killRounds } from '../faults/kill.ts'

const { values } = parseArgs({ options: { kills: { type: 'string', default: '200' } } })
const rounds = Math.ceil(Number(values.kills) / 2)

const cleanups: (() => void | Promise<void>)[] = []
const owner = { after: (cleanup: () => void | Promise<void>) => void cleanups.push(cleanup) }
try {
  const startedAt = performance.now()
  const { acknowledged } = await killRounds(owner, rounds)
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  console.log(`${acknowledged} acknowledged projects survived ${rounds * 2} kills in ${seconds} s`)
} finally {
  for (const cleanup of cleanups) await cleanup()
}
