// Which tests run when. A test is in `npm test` unless it is named here, and `npm run test:full` runs everything.
//
//   unit    npm run test:unit   no server, no browser
//   change  npm test            what every change must pass
//   full    npm run test:full   everything, with the large amounts
import { globSync } from 'node:fs'

export const TIERS = ['unit', 'change', 'full'] as const
export type Tier = (typeof TIERS)[number]
export const isTier = (name: string): name is Tier => (TIERS as readonly string[]).includes(name)

/** Tests beside the source are unit tests; so are these of tests/, which need no server and no browser either. */
const withoutServer = [
  'tests/api/object-store.test.ts',
  'tests/conformance/openapi.test.ts',
  'tests/deploy/references.test.ts',
  'tests/docs/blocks.test.ts',
  'tests/docs/page-run.test.ts',
  'tests/docs/truth.test.ts',
  'tests/docs/types.test.ts',
  'tests/fixtures/login-zoo/kit/totp.test.ts',
  'tests/hostile/upstream-proxies.test.ts',
  'tests/instances/devtools-sockets.test.ts',
  'tests/instances/sound-server.test.ts',
]

/** Whole files that only `npm run test:full` runs, and why a change does not wait for them. */
const fullOnly: Readonly<Record<string, string>> = {
  'tests/api/changes.test.ts':
    'streams over outages and on two servers; tests/dashboard/frame.test.ts follows one',
  'tests/api/later-schema.test.ts':
    'every operation twice, for a minute; the test beside the migrations stays',
  'tests/api/gpu.test.ts':
    'two servers of its own, for limits of a GPU; the unit tests of packages/server/src/instances/local/gpu stay',
  'tests/instances/gpu.test.ts': 'sandboxes with a device, and a server that takes them over; the same stay',
  'tests/api/handovers.test.ts':
    'waits for time limits, and for two servers; tests/api/mcp.test.ts and tests/conformance stay',
  'tests/api/room.test.ts':
    'servers that give sessions away; tests/api/browsers.test.ts and tests/api/take-over.test.ts stay',
  'tests/api/telemetry-export.test.ts':
    'destinations over outages and restarts; tests/api/telemetry.test.ts stays',
  'tests/api/mailboxes.test.ts': 'the same mail server; the same stay',
  'tests/api/webhooks.test.ts':
    'every kind of event, and receivers that fail; the blocks of docs/webhooks.md stay',
  'tests/e2e/webhooks.test.ts': 'a real browser with a recording; the same stay',
  'tests/faults/webhooks.test.ts': 'kills, and receivers that hang, for minutes; the same stay',
  'tests/e2e/deep-standby.test.ts':
    'real sessions and swap of the machine, for minutes; the unit tests of sessions/browsers and instances/local/swap stay',
  'tests/hostile/apps.test.ts': 'hostile apps in real sandboxes; tests/e2e/apps.test.ts stays',
  'tests/hostile/repl.test.ts': 'hostile code in the REPL; tests/e2e/executors.test.ts stays',
  'tests/agent/executors.test.ts':
    'every way in which executors meet, on two kinds of browsers; tests/e2e/executors.test.ts stays',
  'tests/agent/login/floods.test.ts': 'pages made to be too large, for minutes',
  'tests/agent/login/photo.test.ts': 'photos of pages in three browsers; packages/login/src/explain stays',
  'tests/agent/login/workers.test.ts':
    'three browsers with every kind of worker; tests/agent/login/login.test.ts stays',
  'tests/agent/login/passkeys.test.ts':
    'five browsers with keys; packages/server/src/logins/credentials/passkeys.test.ts and tests/agent/login/login.test.ts stay',
  'tests/agent/login/pages.test.ts': 'unusual pages; tests/agent/login/login.test.ts stays',
  'tests/agent/login/traffic.test.ts':
    'slow answers and browsers that end; tests/agent/login/login.test.ts stays',
  'tests/agent/login/typing.test.ts':
    'every kind of field; tests/e2e/login-engine.test.ts and tests/agent/login/login.test.ts stay',
  'tests/agent/preview.test.ts': 'small pictures of two kinds of browsers; tests/api/previews.test.ts stays',
  'tests/agent/repl.test.ts': 'the REPL on two kinds of browsers; tests/e2e/executors.test.ts stays',
  'tests/agent/webmcp.test.ts':
    'tools of pages on two kinds of browsers; the block of docs/controls.md stays',
  'tests/bench/scale.test.ts': 'measures a fleet with small numbers, for minutes',
  'tests/bench/smoke.test.ts': 'runs every row of the benchmark once, for minutes',
  'tests/api/invocations-sent-on.test.ts':
    'invocations of a server without room, for a minute; tests/api/invocations.test.ts stays',
  'tests/cli/apps.test.ts': 'every template of the command line is built and run; commands.test.ts stays',
  'tests/cli/commands.test.ts':
    'starts the command line some eighty times; the unit tests of packages/cli and the blocks of docs/cli.md stay',
  'tests/cli/explain-login.test.ts': 'starts the command line a few times; the same stay',
  'tests/cli/handovers.test.ts': 'starts the command line a dozen times; the same stay',
  'tests/cli/session-import.test.ts':
    'starts the command line a few times; tests/api/session-import.test.ts stays',
  'tests/cli/webhooks.test.ts': 'starts the command line some thirty times; the same stay',
  'tests/cli/completion.test.ts': 'shells that only npm run test:full installs; the same stay',
  'tests/cli/package.test.ts': 'packs and installs the command line; the same stay',
  'tests/cli/terminal.test.ts': 'a real session in a pseudo-terminal; the same stay',
  'tests/cli/up.test.ts':
    'starts servers as people do, with their own PostgreSQL; tests/docs/code-blocks.test.ts stays',
  'tests/client/apps.test.ts':
    'three client versions run apps; tests/client/every-operation.test.ts and tests/e2e/apps.test.ts stay',
  'tests/client/computer.test.ts': 'three client versions on real browsers; tests/e2e/control.test.ts stays',
  'tests/client/curl.test.ts': 'three client versions on real browsers',
  'tests/client/playwright.test.ts':
    'three client versions on real browsers; tests/e2e/playwright.test.ts stays',
  'tests/client/processes.test.ts':
    'three client versions on real browsers; tests/e2e/processes.test.ts stays',
  'tests/client/profiles.test.ts':
    'three client versions on real browsers; tests/hostile/profiles.test.ts stays',
  'tests/client/replays.test.ts':
    'three client versions on real browsers; tests/hostile/replays.test.ts stays',
  'tests/clients/libraries.test.ts': 'real tasks with other clients; tests/e2e/playwright.test.ts stays',
  'tests/clients/lighthouse.test.ts': 'audits of a page, for a minute',
  'tests/clients/mcp.test.ts': 'clients that only npm run test:full installs',
  'tests/clients/webdriver.test.ts': 'ChromeDriver, and clients that only npm run test:full installs',
  'tests/dashboard/apps.test.ts': 'apps are built and run; tests/dashboard/frame.test.ts stays',
  'tests/dashboard/logins.test.ts': 'every step of a login in a page; the same stays',
  'tests/dashboard/overview.test.ts': 'tiles of real browsers; the same stays',
  'tests/dashboard/pools.test.ts': 'every act on a pool; the same stays',
  'tests/dashboard/resources.test.ts': 'every act on a resource; the same stays',
  'tests/dashboard/resources-look.test.ts': 'every page in every colour and size; the same stays',
  'tests/dashboard/session-live.test.ts': 'every tab of a real session; the same stays',
  'tests/dashboard/session-timeline.test.ts': '50,000 events; the same stays',
  'tests/dashboard/sessions.test.ts': 'every act on sessions; the same stays',
  'tests/dashboard/webhooks.test.ts': 'every act on a webhook; the same stays',
  'tests/deploy/chart.test.ts': 'Helm, which only npm run test:full installs',
  'tests/deploy/stop.test.ts':
    'starts the server as systemd and npm do; tests/docs/code-blocks.test.ts starts it by npm, too',
  'tests/e2e/auth-connections.test.ts':
    'many logins with real browsers; login-engine.test.ts and tests/api stay',
  'tests/e2e/cross-origin-login.test.ts':
    'a login in a page of another origin; tests/api/cross-origin.test.ts stays',
  'tests/e2e/devtools.test.ts':
    'every panel of DevTools in a real browser; tests/hostile/devtools.test.ts stays',
  'tests/e2e/docs.test.ts': 'the pages of the reference in real browsers; tests/docs stays',
  'tests/e2e/live-view-video.test.ts':
    'records and decodes minutes of video; tests/hostile/live-view.test.ts stays',
  'tests/e2e/mailed-logins.test.ts':
    'a mail server that only npm run test:full installs; the tests of packages/login/src/mail and engine stay',
  'tests/e2e/mcp-servers.test.ts': 'two servers with real browsers; tests/api/mcp.test.ts stays',
  'tests/e2e/mcp.test.ts':
    'agents with real browsers over both transports; tests/api/mcp.test.ts and the blocks of docs/mcp.md stay',
  'tests/e2e/networks.test.ts':
    'proxies and private hosts over kills; tests/api/networks.test.ts and tests/hostile/upstream-proxies.test.ts stay',
  'tests/e2e/playwright-native.test.ts':
    "Playwright's own protocol on two kinds of browsers; the blocks of docs/downloads.md stay",
  'tests/e2e/passkeys.test.ts':
    'a dozen logins at websites that check passkeys; tests/e2e/login-engine.test.ts and tests/api stay',
  'tests/e2e/save-session.test.ts':
    'an extension in a browser of its own; tests/api/session-import.test.ts stays',
  'tests/e2e/session-import.test.ts': 'imports with real browsers; tests/api/session-import.test.ts stays',
  'tests/e2e/pool-contents.test.ts':
    'what stays in a released browser; tests/e2e/browser-pools.test.ts stays',
  'tests/e2e/previews.test.ts': 'small pictures over standby and timeouts; tests/api/previews.test.ts stays',
  'tests/e2e/profiles-unusual.test.ts': 'many real browsers; tests/hostile/profiles.test.ts stays',
  'tests/e2e/puppeteer.test.ts': 'another client; tests/e2e/playwright.test.ts stays',
  'tests/e2e/selenium.test.ts': 'another client; tests/agent/bidi.test.ts stays',
  'tests/e2e/silence.test.ts': 'watches an idle server for a long time',
  'tests/e2e/sound.test.ts':
    'recordings of two kinds of browsers in real time; the unit tests of codecs and replays stay',
  'tests/e2e/live-sound.test.ts': 'viewers of real browsers who listen; the same stay',
  'tests/hostile/sound.test.ts': 'floods of streams in a real session; the same stay',
  'tests/examples/examples.test.ts': 'every example with real browsers; the blocks of docs stay',
  'tests/faults/apps.test.ts': 'kills among invocations; tests/e2e/apps.test.ts stays',
  'tests/faults/audit-export.test.ts':
    'a real S3 server, an outage and kills, for minutes; tests/api/audit-export.test.ts stays',
  'tests/faults/auth-connections.test.ts':
    'logins with real browsers whose servers end; tests/api/auth-connections.test.ts and tests/faults/kill.test.ts stay',
  'tests/faults/auth-connections-kill.test.ts': 'logins with real browsers through kills; the same stay',
  'tests/faults/blobs-s3.test.ts':
    'a real S3 server with cut connections and outages; tests/api/blobs.test.ts stays',
  'tests/faults/browser-pools.test.ts': 'kills at nine points; tests/api and tests/e2e of pools stay',
  'tests/faults/database-hangs.test.ts':
    'waits for the limits of statements; tests/faults/database.test.ts stays',
  'tests/faults/credentials.test.ts': 'kills among saves; tests/faults/kill.test.ts stays',
  'tests/faults/extensions.test.ts':
    'kills at eight points; tests/hostile/extensions.test.ts and tests/faults/kill.test.ts stay',
  'tests/faults/move-blobs.test.ts': 'a real S3 server and kills; the tests of blobs and of their cache stay',
  'tests/faults/passkeys.test.ts':
    'logins with real browsers through kills; tests/api/auth-connections.test.ts stays',
  'tests/faults/profiles.test.ts':
    'many saves by real browsers through kills; tests/hostile/profiles.test.ts and the kills of sessions stay',
  'tests/faults/proxies.test.ts': 'three servers and kills; tests/hostile/upstream-proxies.test.ts stays',
  'tests/faults/replays.test.ts': 'kills at every point of a recording; tests/hostile/replays.test.ts stays',
  'tests/faults/replica-sessions.test.ts': 'sessions over several servers; replicas.test.ts stays',
  'tests/faults/room-kills.test.ts': 'kills at many points; tests/api/take-over.test.ts stays',
  'tests/faults/room.test.ts': 'fleets of real browsers and kills; tests/api/take-over.test.ts stays',
  'tests/faults/servers-s3.test.ts':
    'a real S3 server, fleets of real browsers, kills and outages; tests/api/blobs.test.ts and tests/e2e of each part stay',
  'tests/faults/sessions-burst.test.ts': 'a hundred creates at once',
  'tests/faults/sessions-crash-points.test.ts':
    'kills at many points of a start; tests/faults/sessions-kill.test.ts stays',
  'tests/faults/sessions-cycles.test.ts': 'thirty sessions, one after another',
  'tests/faults/sessions-database.test.ts':
    'sessions whose database goes away; tests/faults/database.test.ts and sessions-kill.test.ts stay',
  'tests/faults/sessions-idle.test.ts': 'a hundred timeouts that run out',
  'tests/faults/sessions-parts-killed.test.ts':
    'kills of every process of a session; tests/e2e/lifecycle.test.ts and sessions-kill.test.ts stay',
  'tests/faults/sessions-start-fails.test.ts': 'waits for browsers that hang: 30 s and more',
  'tests/faults/sessions-stopped.test.ts': 'waits for leases to run out: a minute',
  'tests/faults/telemetry-export.test.ts':
    'kills and outages over minutes; tests/api/telemetry.test.ts stays',
  'tests/faults/telemetry.test.ts': 'a fleet and crashes; tests/e2e/telemetry.test.ts stays',
  'tests/fixtures/login-zoo/zoo.test.ts':
    'tests of the login sites themselves; the tests of the login engine use these sites',
  'tests/generated/clients.test.ts':
    'generates and compiles two clients; tests/conformance/openapi.test.ts and tests/client stay',
  'tests/hostile/cdp-commands.test.ts':
    'restarts Chromium many times; tests/e2e/lifecycle.test.ts and tests/hostile/page-egress.test.ts stay',
  'tests/hostile/telemetry.test.ts': 'floods of events; tests/e2e/telemetry.test.ts stays',
  'tests/hostile/webhooks.test.ts': 'waits for receivers that never answer; the same stay',
  'tests/instances/cluster-fleet.test.ts': 'waits for the sweep of a server; cluster-watch.test.ts stays',
  'tests/instances/adoption.test.ts': 'drivers that end and come again; tests/e2e/lifecycle.test.ts stays',
  'tests/instances/conformance.test.ts':
    'what other tests of this folder say about the local driver, for any driver',
  'tests/instances/pod.test.ts': 'both programs of a Pod with real browsers, and a lease that runs out',
  'tests/agent/computer.test.ts':
    'every act of the mouse and keyboard on two kinds of browsers; tests/e2e/control.test.ts stays',
  'tests/api/start.test.ts':
    'starts servers with every kind of setting; tests/docs/code-blocks.test.ts starts one by npm',
  'tests/e2e/chrome-policy.test.ts':
    'policies on many real browsers; tests/conformance and the unit tests stay',
  'tests/e2e/extensions.test.ts':
    'extensions in many real browsers; tests/hostile/extensions.test.ts and tests/client/every-operation.test.ts stay',
  'tests/e2e/like-chromium.test.ts':
    'every difference to a bare Chromium; tests/e2e/stealth.test.ts and tests/e2e/playwright.test.ts stay',
  'tests/e2e/hosted-login.test.ts': 'the page of a login in two sizes; tests/e2e/login-engine.test.ts stays',
  'tests/e2e/live-view.test.ts': 'viewers of real browsers; tests/hostile/live-view.test.ts stays',
  'tests/e2e/profiles.test.ts': 'many saves by real browsers; tests/hostile/profiles.test.ts stays',
  'tests/e2e/proxies.test.ts':
    'every kind of proxy with real browsers; tests/hostile/upstream-proxies.test.ts stays',
  'tests/e2e/replays.test.ts': 'recordings of two kinds of browsers; tests/hostile/replays.test.ts stays',
}

/** Pages whose code blocks a change runs. tests/docs/types.test.ts checks the types of all. */
export const pagesOfChange: readonly string[] = [
  'README.md',
  'docs/quick-start.md',
  'docs/sessions.md',
  'docs/controls.md',
  'docs/downloads.md',
  'docs/webhooks.md',
  'docs/mcp.md',
  'docs/cli.md',
]

/** Tests that repeat one thing: how often in each tier. `amount` reads it. */
const amounts = {
  /** Generated requests. */
  fuzzRequests: { change: 1_500, full: 20_000 },
  /** Rounds of kills during writes; each round kills and starts the server twice. */
  killRounds: { change: 2, full: 10 },
  /** Kills of the server during saves of a credential. */
  credentialKills: { change: 1, full: 5 },
  /** Kills of the server while a profile is saved. */
  profileKills: { change: 1, full: 5 },
  /** Invocations of an app while the server is killed now and then. */
  invocationsThroughKills: { change: 10, full: 100 },
  /** Points at which a server is killed in a test that walks through several; see `sample`. */
  crashPoints: { change: 2, full: Infinity },
  /** The same for logins, which have a dozen. */
  loginCrashPoints: { change: 2, full: Infinity },
  /** Sites of the zoo for the login engine: one of every kind. */
  loginsShown: { change: 2, full: Infinity },
  /** Sites at which the login engine follows its stored plan. */
  loginPlans: { change: 1, full: Infinity },
} satisfies Record<string, { change: number; full: number }>

/** How many tests share a list; see `turnOf`. */
const TURNS = 8

/** Files that share one server and run one after another; see fixtures/shared-server.ts. */
export const groups: Readonly<Record<string, readonly string[]>> = {
  conformance: [
    'tests/conformance/access.test.ts',
    'tests/conformance/key-power.test.ts',
    'tests/conformance/mounting.test.ts',
    'tests/conformance/project-headers.test.ts',
    'tests/conformance/scopes.test.ts',
    'tests/conformance/session-tokens.test.ts',
  ],
  client: [
    'tests/client/api-keys.test.ts',
    'tests/client/auth-connections.test.ts',
    'tests/client/browser-pools.test.ts',
    'tests/client/browsers.test.ts',
  ],
}

/** A file that runs alone uses the tier of `npm test`. */
export const currentTier = (): Tier => {
  const name = process.env['BERTH_TEST_TIER'] ?? 'change'
  if (!isTier(name)) throw new Error(`BERTH_TEST_TIER is "${name}": use one of ${TIERS.join(', ')}`)
  return name
}
export const isFull = () => currentTier() === 'full'
export const amount = (name: keyof typeof amounts) => amounts[name][isFull() ? 'full' : 'change']

export const isUnit = (file: string) => !file.startsWith('tests/') || withoutServer.includes(file)

/** The part of a list that the tier has time for, from its beginning and its end. */
export function sample<T>(items: readonly T[], name: keyof typeof amounts): readonly T[] {
  const count = amount(name)
  if (count >= items.length) return items
  const ahead = Math.ceil(count / 2)
  return [...items.slice(0, ahead), ...items.slice(items.length - (count - ahead))]
}

/**
 * The values that a test takes from a long list that many tests share. In `npm test` they take turns: each test has an
 * eighth of the list, and together they have all of it. `turn` counts the tests.
 */
export function turnOf<T>(items: readonly T[], turn: number): readonly T[] {
  return isFull() ? items : items.filter((_item, index) => index % TURNS === turn % TURNS)
}

/** Relative to the root of the repository. */
export function filesOf(tier: Tier, root: string): string[] {
  const all = globSync(['packages/*/src/**/*.test.ts', 'scripts/**/*.test.ts', 'tests/**/*.test.ts'], {
    cwd: root,
    // They need a cluster; `npm run test:kubernetes` runs them.
    exclude: ['tests/kubernetes/**'],
  }).toSorted()
  const known = new Set(all)
  for (const file of [...withoutServer, ...Object.values(groups).flat(), ...Object.keys(fullOnly)]) {
    if (!known.has(file)) throw new Error(`tests/tiers.ts names "${file}", which does not exist`)
  }
  if (tier === 'unit') return all.filter(isUnit)
  return tier === 'full' ? all : all.filter((file) => fullOnly[file] === undefined)
}
