// Tests that take too long for every change and run before a release: `npm run soak`, about half an hour. `npm run
// soak -- --short` runs a tenth of everything, `-- --only cycles,hold --cycles 50` runs some of it.
import { parseArgs } from 'node:util'
import { startServer } from '../fixtures/server.ts'
import type { Owner } from '../fixtures/cleanup.ts'
import { invokeThroughKills } from '../faults/apps.ts'
import { killRounds } from '../faults/kill.ts'
import { profileKillRounds } from '../faults/profile-kills.ts'
import { burst } from '../faults/sessions-burst.ts'
import { assertNoGrowth, cycles, CYCLES_ENV } from '../faults/sessions-cycles.ts'
import { holdSessions } from './sessions-held.ts'
import { sessionKillRounds } from './sessions-kill.ts'

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    kills: { type: 'string' },
    'session-kills': { type: 'string' },
    'profile-kills': { type: 'string' },
    cycles: { type: 'string' },
    invocations: { type: 'string' },
    creates: { type: 'string' },
    'hold-seconds': { type: 'string' },
  },
})
const amount = (asked: string | undefined, usual: number, short: number) =>
  asked === undefined ? (values.short ? short : usual) : Number(asked)

const scenarios: Record<string, (owner: Owner) => Promise<string>> = {
  async kills(owner) {
    const rounds = Math.ceil(amount(values.kills, 200, 20) / 2)
    const { acknowledged } = await killRounds(owner, rounds)
    return `${acknowledged} acknowledged projects survived ${rounds * 2} kills`
  },
  async 'session-kills'(owner) {
    const rounds = amount(values['session-kills'], 20, 3)
    const { survived } = await sessionKillRounds(owner, rounds)
    return `${survived} live sessions survived ${rounds} kills of their server`
  },
  async 'profile-kills'(owner) {
    const rounds = amount(values['profile-kills'], 100, 10)
    const { saved } = await profileKillRounds(owner, rounds)
    return `${saved} sessions were saved despite ${rounds} kills of their server`
  },
  async invocations(owner) {
    const invocations = amount(values.invocations, 1000, 100)
    const seen = await invokeThroughKills(owner, { invocations, perKill: 60 })
    return `${invocations} invocations, each ended once and began at most once: ${JSON.stringify(seen)}`
  },
  async burst(owner) {
    const count = amount(values.creates, 100, 100)
    const server = await startServer(owner, { hasRealInstances: true })
    const { answers, seconds } = await burst(server, count)
    return `${count} parallel creates: ${JSON.stringify(answers)} after ${seconds.toFixed(1)} s`
  },
  async cycles(owner) {
    const count = amount(values.cycles, 300, 60)
    const server = await startServer(owner, { hasRealInstances: true, env: CYCLES_ENV })
    const growth = await cycles(server, { count, from: 20, to: Math.min(50, count / 2) })
    assertNoGrowth(growth)
    return `${count} sessions, one after another: ${JSON.stringify(growth)}`
  },
  async hold(owner) {
    const seconds = amount(values['hold-seconds'], 600, 60)
    const held = await holdSessions(owner, seconds)
    return `40 sessions with 200 clients and 1000 streams for ${seconds} s, no call failed: ${JSON.stringify(held)}`
  },
}

for (const name of values.only ? values.only.split(',') : Object.keys(scenarios)) {
  const scenario = scenarios[name]
  if (!scenario)
    throw new Error(`Cannot run "${name}": the scenarios are ${Object.keys(scenarios).join(', ')}`)
  const cleanups: (() => void | Promise<void>)[] = []
  try {
    const startedAt = performance.now()
    const result = await scenario({ after: (cleanup) => void cleanups.push(cleanup) })
    console.log(`${name}: ${result}; took ${Math.round((performance.now() - startedAt) / 1000)} s`)
  } catch (error) {
    // Remains are then only a consequence, and would hide the cause.
    console.error(`${name} failed:`, error)
    process.exitCode = 1
  } finally {
    for (const cleanup of cleanups) await cleanup()
  }
}
