// What bot detectors report about a stealth session, headless and headful. These detectors are open source and run in
// the page, as on a site.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, test } from 'node:test'
import { buildSync } from 'esbuild'
import { withCdp, type CdpClient } from '../fixtures/cdp.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, send } from '../fixtures/sessions.ts'
import { startSite } from '../fixtures/site.ts'

const owner = { after }
const site = await startSite(owner)
// A name for loopback, because detectors need a secure origin.
const server = await startServer(owner, {
  hasRealInstances: true,
  env: { BERTH_EGRESS_ALLOW: '127.0.0.0/8', BERTH_WARM_HEADFUL: '1' },
})
const url = `http://localhost:${site.port}/inner`

const require = createRequire(import.meta.url)
const botd = buildSync({
  stdin: {
    contents: `import { load } from '@fingerprintjs/botd'
      globalThis.botd = load({ monitoring: false }).then((bot) => {
        const verdict = bot.detect()
        return { verdict, detections: bot.getDetections() }
      })`,
    resolveDir: import.meta.dirname,
  },
  bundle: true,
  write: false,
  format: 'iife',
}).outputFiles[0]!.text
const headlessDetector = readFileSync(require.resolve('headless-detector'), 'utf8')

async function openPage(cdp: CdpClient): Promise<void> {
  await cdp.callPage('Page.navigate', { url })
  await eventually('the page is there', () => cdp.evaluate<boolean>(`document.title === 'Inner'`))
}

interface Botd {
  readonly verdict: { readonly bot: boolean; readonly botKind?: string }
  readonly detections: Readonly<Record<string, { readonly bot: boolean; readonly botKind?: string }>>
}

const FACTS = `(async () => {
  const hints = await navigator.userAgentData.getHighEntropyValues(['fullVersionList', 'architecture', 'bitness', 'platform'])
  const { state } = await navigator.permissions.query({ name: 'notifications' })
  const worker = new Worker(URL.createObjectURL(new Blob(['postMessage(navigator.userAgent + navigator.languages)'])))
  const inWorker = await new Promise((resolve) => { worker.onmessage = ({ data }) => resolve(data) })
  return {
    userAgent: navigator.userAgent, webdriver: navigator.webdriver, hints, inWorker,
    languages: navigator.languages, plugins: navigator.plugins.length, chrome: typeof chrome,
    notifications: [Notification.permission, state],
    sizes: { outer: [outerWidth, outerHeight], inner: [innerWidth, innerHeight], screen: [screen.width, screen.height] },
    injected: Object.keys(window).filter((name) => /cdc_|playwright|puppeteer|selenium|webdriver|berth/i.test(name)),
  }
})()`

interface Facts {
  readonly userAgent: string
  readonly webdriver: boolean
  readonly hints: {
    readonly brands: { brand: string; version: string }[]
    readonly fullVersionList: { brand: string; version: string }[]
    readonly architecture: string
    readonly platform: string
  }
  readonly inWorker: string
  readonly languages: string[]
  readonly plugins: number
  readonly chrome: string
  readonly notifications: [string, string]
  readonly sizes: Readonly<Record<'outer' | 'inner' | 'screen', [number, number]>>
  readonly injected: string[]
}

interface Detected {
  readonly isHeadless: number
  readonly checkItemExplanations: unknown
}

/** Few fonts are also a property of the machine. */
const WITHOUT_GPU = new Set([
  'webglFlags.isSoftwareRenderer',
  'webglFlags.suspicious',
  'fingerprintChecks.fonts.suspicious',
])

const SUSPICIOUS =
  /^(suspicious|detected|cdpDetected|webdriver|.*Mismatch|isSoftwareRenderer|_.*|.*cdc_.*|domAutomation.*|playwrightGlobal|calledSelenium|deniedByDefault|innerEqualsOuter)$/

/** The findings that report something wrong. */
function suspicions(node: object, path = ''): string[] {
  return Object.entries(node).flatMap(([name, value]: [string, unknown]) => {
    const at = path ? `${path}.${name}` : name
    if (typeof value === 'object' && value !== null) return suspicions(value, at)
    return value === true && SUSPICIOUS.test(name) ? [at] : []
  })
}

// Before the first test: the file would end, and its server with it, while it waits between two tests.
const sessions = [
  {
    kind: 'headless',
    headless: true,
    session: await createSession(server, { headless: true, stealth: true }),
  },
  {
    kind: 'headful',
    headless: false,
    session: await createSession(server, { headless: false, stealth: true }),
  },
]

for (const { kind, headless, session } of sessions) {
  test(`a stealth ${kind} session is consistent, and shows no automation`, async () => {
    assert.equal(session.browser_live_view_url === undefined, headless)
    await withCdp(session.cdp_ws_url, async (cdp) => {
      await openPage(cdp)
      const facts = await cdp.evaluate<Facts>(FACTS)
      assert.equal(facts.webdriver, false)
      assert.doesNotMatch(facts.userAgent, /Headless/)
      const [, major] = /Chrome\/(\d+)\.0\.0\.0/.exec(facts.userAgent)!
      const { brands, fullVersionList, architecture, platform } = facts.hints
      assert.ok(brands.some(({ version }) => version === major))
      assert.ok(fullVersionList.some(({ version }) => version.startsWith(`${major}.`)))
      assert.doesNotMatch(JSON.stringify(facts.hints), /Headless/)
      assert.equal(platform, 'Linux')
      assert.match(architecture, /^(x86|arm)$/)
      assert.equal(facts.inWorker, facts.userAgent + facts.languages.join())
      assert.deepEqual(facts.languages, ['en-US', 'en'])
      assert.ok(facts.plugins > 0)
      assert.equal(facts.chrome, 'object')
      assert.deepEqual(facts.notifications, ['default', 'prompt'])
      assert.deepEqual(facts.injected, [])
      const { outer, inner, screen } = facts.sizes
      for (const side of [0, 1] as const) {
        assert.ok(
          inner[side] > 0 && inner[side] <= outer[side] && outer[side] <= screen[side],
          JSON.stringify(facts.sizes),
        )
      }
    })
  })

  test(`BotD takes a stealth ${kind} session for a person`, async () => {
    await withCdp(session.cdp_ws_url, async (cdp) => {
      await openPage(cdp)
      const { verdict, detections } = await cdp.evaluate<Botd>(`${botd};globalThis.botd`)
      const noticed = Object.entries(detections).filter(([, { bot }]) => bot)
      assert.deepEqual(noticed, [])
      assert.equal(verdict.bot, false)
    })
  })

  test(`headless-detector finds only the missing GPU in a stealth ${kind} session`, async () => {
    await withCdp(session.cdp_ws_url, async (cdp) => {
      await openPage(cdp)
      const {
        isHeadless,
        checkItemExplanations: _words,
        ...found
      } = await cdp.evaluate<Detected>(`${headlessDetector};detectHeadless()`)
      // From 0, a person, to 1, a bot.
      assert.ok(isHeadless < 0.3, String(isHeadless))
      const noticed = suspicions(found).filter((path) => !WITHOUT_GPU.has(path))
      assert.deepEqual(noticed, [])
    })
  })

  test(`a page of a stealth ${kind} session opens no window without a click`, async () => {
    await withCdp(session.cdp_ws_url, async (cdp) => {
      // A script of the page itself, because this client runs its own as if somebody had clicked.
      const script = `document.title = 'opened ' + (window.open('about:blank') !== null)`
      await cdp.callPage('Page.navigate', { url: `data:text/html,<script>${script}</script>` })
      await eventually('the page has tried', () =>
        cdp.evaluate<boolean>(`document.title.startsWith('opened')`),
      )
      assert.equal(await cdp.evaluate<string>('document.title'), 'opened false')
    })
  })
}

test('without stealth a headless session identifies itself, and BotD detects it', async () => {
  const session = await createSession(server, { headless: true })
  await withCdp(session.cdp_ws_url, async (cdp) => {
    await openPage(cdp)
    const { verdict } = await cdp.evaluate<Botd>(`${botd};globalThis.botd`)
    assert.deepEqual(verdict, { bot: true, botKind: 'headless_chrome' })
  })
  await send(server, 'DELETE', `/browsers/${session.session_id}`)
})
