// Which tests run when. A test is in `npm test` unless it is named here, and `npm run test:full` runs everything.
//
//   unit    npm run test:unit   no server, no browser
//   change  npm test            what every change must pass
//   full    npm run test:full   everything, with the large amounts
import { globSync } from 'node:fs'

export const TIERS = ['unit', 'change', 'full'] as const
export type Tier = (typeof TIERS)[number]
export const isTier = (name: string): name is Tier => (TIERS as readonly string[]).includes(name)

/** Tests beside the source are unit tests, except those that start an agent with its Chromium. */
const withBrowser = [
  'packages/agent/src/agent.test.ts',
  'packages/agent/src/bidi.test.ts',
  'packages/agent/src/control/computer/computer.test.ts',
  'packages/agent/src/control/computer/native-dialog.test.ts',
  'packages/agent/src/headful.test.ts',
  'packages/agent/src/login/floods.test.ts',
  'packages/agent/src/login/login.test.ts',
  'packages/agent/src/login/pages.test.ts',
  'packages/agent/src/login/prompts.test.ts',
  'packages/agent/src/login/secrets-in-telemetry.test.ts',
  'packages/agent/src/login/traffic.test.ts',
  'packages/agent/src/login/typing.test.ts',
  'packages/agent/src/user-data/user-data.test.ts',
]

/** Tests below tests/ that need neither. */
const withoutServer = [
  'tests/conformance/openapi.test.ts',
  'tests/docs/blocks.test.ts',
  'tests/docs/page-run.test.ts',
  'tests/docs/truth.test.ts',
  'tests/docs/types.test.ts',
  'tests/fixtures/login-zoo/kit/totp.test.ts',
  'tests/hostile/upstream-proxies.test.ts',
]

/** Whole files that only `npm run test:full` runs, and why a change does not wait for them. */
const fullOnly: Readonly<Record<string, string>> = {
  'tests/bench/smoke.test.ts':
    'every row of the benchmark once: minutes, and a change of a row runs it itself',
}

/** Tests that repeat one thing: how often in each tier. `amount` reads it. */
const amounts = {
  /** Made-up requests; the first thousands find what the next rarely do. */
  fuzzRequests: { change: 3_000, full: 20_000 },
} satisfies Record<string, { change: number; full: number }>

/** A file that is run by itself runs as a change would. */
export const currentTier = (): Tier => {
  const name = process.env['BERTH_TEST_TIER'] ?? 'change'
  if (!isTier(name)) throw new Error(`BERTH_TEST_TIER is "${name}": use one of ${TIERS.join(', ')}`)
  return name
}
export const isFull = () => currentTier() === 'full'
export const amount = (name: keyof typeof amounts) => amounts[name][isFull() ? 'full' : 'change']

const isUnit = (file: string) =>
  file.startsWith('tests/') ? withoutServer.includes(file) : !withBrowser.includes(file)

/** Relative to the root of the repository. */
export function filesOf(tier: Tier, root: string): string[] {
  const all = globSync(['packages/*/src/**/*.test.ts', 'scripts/**/*.test.ts', 'tests/**/*.test.ts'], {
    cwd: root,
  }).toSorted()
  const known = new Set(all)
  for (const file of [...withBrowser, ...withoutServer, ...Object.keys(fullOnly)]) {
    if (!known.has(file)) throw new Error(`tests/tiers.ts names "${file}", which does not exist`)
  }
  if (tier === 'unit') return all.filter(isUnit)
  return tier === 'full' ? all : all.filter((file) => fullOnly[file] === undefined)
}
