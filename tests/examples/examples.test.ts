// Runs every example as a reader would: in a copy of the folder, with the packages that its package.json names, and
// nothing in the environment but where the server is and its key.
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { chromium } from 'playwright-core'
import { startExampleSite } from '../docs/stand-ins.ts'
import { classicForm } from '../fixtures/login-zoo/sites/classic-form.ts'
import { newUser } from '../fixtures/login-zoo/kit/site.ts'
import { startZoo } from '../fixtures/login-zoo/zoo.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer, tempDir } from '../fixtures/server.ts'
import { listSessions, send } from '../fixtures/sessions.ts'
import { startSite } from '../fixtures/site.ts'

const RUN_TIMEOUT_MS = 120_000

const owner = { after }
const root = join(import.meta.dirname, '../..')
const folder = join(tempDir(owner), 'examples')
const site = await startExampleSite(owner)
/** A site that the tests of the job do not expect. */
const otherSite = await startSite(owner)
const user = newUser('mail', { username: 'ada', password: 'correct-horse' })
const zoo = await startZoo(owner, [{ ...classicForm, name: 'mail', users: [user] }])
const mail = zoo.site('mail')
const server = await startServer(owner, {
  hasRealInstances: true,
  env: {
    BERTH_EGRESS_ALLOW: [
      '127.0.0.0/8',
      `host.berth.internal:${site.port}`,
      otherSite.allow.BERTH_EGRESS_ALLOW,
    ].join(','),
  },
})
cpSync(join(root, 'examples'), folder, { recursive: true })
linkPackages()

/** In the repository, one package has another name; see tests/client/versions.ts. */
function folderOf(name: string): string {
  return name === '@onkernel/sdk' ? 'kernel-sdk-0-84' : name
}

/** As if `npm install` had run. */
function linkPackages(): void {
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  for (const [name, version] of Object.entries(dependencies)) {
    const installed = realpathSync(join(root, 'node_modules', folderOf(name)))
    const { version: has } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
      version: string
    }
    assert.equal(has, version, `examples/package.json names another version of ${name} than the tests use`)
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(installed, link)
  }
}

interface Run {
  readonly code: number | null
  readonly printed: string
}

class Running {
  readonly #child: ChildProcess
  readonly ended: Promise<Run>
  printed = ''

  constructor(command: string, env: Readonly<Record<string, string>>) {
    const child = spawn('bash', ['-ec', command], {
      cwd: folder,
      env: {
        PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
        HOME: folder,
        KERNEL_BASE_URL: server.url,
        KERNEL_API_KEY: server.key,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      // With a group of its own, what it started ends with it.
      detached: true,
    })
    this.#child = child
    const collect = (text: string) => void (this.printed += text)
    child.stdout.setEncoding('utf8').on('data', collect)
    child.stderr.setEncoding('utf8').on('data', collect)
    const timer = setTimeout(() => this.#signal('SIGKILL'), RUN_TIMEOUT_MS)
    this.ended = new Promise((resolve) => {
      child.once('close', (code) => {
        clearTimeout(timer)
        resolve({ code, printed: this.printed })
      })
    })
    after(async () => {
      this.#signal('SIGKILL')
      await this.ended
    })
  }

  interrupt(): void {
    this.#signal('SIGINT')
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#child.exitCode === null && this.#child.signalCode === null)
      process.kill(-this.#child.pid!, signal)
  }
}

/** Runs an example to its end. It must succeed, print this, and leave no session behind. */
async function runs(command: string, ...lines: readonly string[]): Promise<void> {
  const { code, printed } = await new Running(command, {}).ended
  assert.equal(code, 0, printed)
  assert.deepEqual(printed.trimEnd().split('\n'), lines)
  assert.deepEqual(await listSessions(server), [])
}

function isFile(name: string, begin: string): void {
  const path = join(folder, name)
  const content = readFileSync(path).toString('latin1')
  assert.ok(content.includes(begin, 0) && content.indexOf(begin) < 16, `${name} begins with ${begin}`)
  assert.ok(statSync(path).size > 1000, name)
}

test('playwright.ts', async () => {
  await runs(`node playwright.ts ${site.url}`, 'Example Domain', '- Learn more: /more')
  isFile('page.png', 'PNG')
})

test('puppeteer.ts', async () => {
  const { code, printed } = await new Running(`node puppeteer.ts ${site.url}`, {}).ended
  assert.equal(code, 0, printed)
  const lines = printed.trimEnd().split('\n')
  // Chromium also asks for the site's icon, sooner or later.
  assert.deepEqual([lines[0], lines.at(-1)], [`200 ${site.url}/`, 'Example Domain is in page.pdf'])
  isFile('page.pdf', '%PDF')
  assert.deepEqual(await listSessions(server), [])
})

test('selenium.ts', async () => {
  await runs(`node selenium.ts ${site.url}`, 'Example Domain · Example Domain', `${site.url}/more`)
})

test('session.py', async () => {
  const running = new Running(`python3 session.py ${site.url}`, {})
  const { code, printed } = await running.ended
  assert.equal(code, 0, printed)
  assert.match(
    printed,
    /^Heading: Example Domain\nTyped: Ahoy from Python\nKept: screen\.png \d+ bytes\nFile: tea, rum\nKept: replay\.mp4 \d+ bytes\n$/,
  )
  isFile('screen.png', 'PNG')
  isFile('replay.mp4', 'ftyp')
  assert.deepEqual(await listSessions(server), [])
})

test('crawl.ts', async () => {
  await runs(`node crawl.ts ${site.url}`, '/  Example Domain', '/more  Example Domain')
  const pools = await send<object[]>(server, 'GET', '/browser_pools')
  assert.deepEqual(pools.body, [])
})

test('agent.ts', async () => {
  const { code, printed } = await new Running(`node agent.ts ${site.url}`, {}).ended
  assert.equal(code, 0, printed)
  const calls = [...printed.matchAll(/^> (\w+) /gm)].map(([, tool]) => tool)
  assert.deepEqual(
    calls,
    ['manage_browsers', 'browser_navigate', 'browser_snapshot', 'browser_click'],
    printed,
  )
  assert.ok(
    printed.endsWith(`The first link leads to ${site.url}/more, where the heading is "Example Domain"\n`),
    printed,
  )
  assert.deepEqual(await listSessions(server), [])
})

test('login.ts, with a person', async () => {
  const running = new Running(`node login.ts ${mail.url}`, {})
  const linkIn = () => /log in: (\S+)/.exec(running.printed)?.[1]
  await eventually(
    () => `the example prints a link: ${running.printed}`,
    () => linkIn() !== undefined,
  )
  // The person, in a browser of their own.
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  try {
    const page = await browser.newPage()
    await page.goto(linkIn()!)
    await page.getByLabel('Username or e-mail').fill('ada')
    await page.getByLabel('Password', { exact: true }).fill('correct-horse')
    await page.keyboard.press('Enter')
    const { code, printed } = await running.ended
    assert.equal(code, 0, printed)
    assert.match(printed, /\nLogged in\nInbox · Harbour Mail\n$/)
  } finally {
    await browser.close()
  }
})

test('devtools-port.ts, until Ctrl-C', async () => {
  const running = new Running('exec node devtools-port.ts 0', {})
  const addressIn = () => /^(127\.0\.0\.1:\d+) leads to session/m.exec(running.printed)?.[1]
  await eventually(
    () => `the example prints its port: ${running.printed}`,
    () => addressIn() !== undefined,
  )
  const at = `http://${addressIn()}`
  const version = (await (await fetch(`${at}/json/version`)).json()) as { webSocketDebuggerUrl: string }
  assert.ok(version.webSocketDebuggerUrl.startsWith(`ws://${addressIn()}/`), version.webSocketDebuggerUrl)
  const browser = await chromium.connectOverCDP(at)
  assert.equal(browser.contexts()[0]!.pages().length, 1)
  await browser.close()
  const refused = await fetch(`${at}/json/version`, { headers: { origin: 'https://evil.example' } })
  assert.equal(refused.status, 403)
  running.interrupt()
  assert.equal((await running.ended).code, 0, running.printed)
  assert.deepEqual(await listSessions(server), [])
})

test('ci: a job whose tests pass keeps no video', async () => {
  const { code, printed } = await new Running(jobSteps(), { SITE_URL: site.url }).ended
  assert.equal(code, 0, printed)
  assert.ok(!existsSync(join(folder, 'replays')), printed)
  assert.deepEqual(await listSessions(server), [])
})

test('ci: a job whose tests fail fails, and keeps a video', async () => {
  const { code, printed } = await new Running(jobSteps(), { SITE_URL: otherSite.url }).ended
  assert.equal(code, 1, printed)
  const [video, ...others] = readdirSync(join(folder, 'replays'))
  assert.deepEqual(others, [])
  assert.ok(printed.includes(`The tests failed; see replays/${video}`), printed)
  isFile(`replays/${video}`, 'ftyp')
  rmSync(join(folder, 'replays'), { recursive: true })
  assert.deepEqual(await listSessions(server), [])
})

/** What the workflow runs, without the installation. */
function jobSteps(): string {
  const workflow = readFileSync(join(folder, 'ci/workflow.yaml'), 'utf8')
  assert.match(workflow, /^ +path: replays\/$/m)
  const steps = [...workflow.matchAll(/^ +- run: (.*)$/gm)].map(([, step]) => step!)
  assert.equal(steps[0], 'npm install')
  assert.ok(steps.length > 1)
  return steps.slice(1).join('\n')
}

test('the README lists every example', () => {
  const readme = readFileSync(join(root, 'examples/README.md'), 'utf8')
  const files = readdirSync(join(root, 'examples')).filter((name) => /\.(ts|py)$/.test(name))
  for (const file of [...files, 'ci'])
    assert.ok(readme.includes(`](${file})`), `${file} is not in the README`)
})
