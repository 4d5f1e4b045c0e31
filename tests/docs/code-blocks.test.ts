// Runs every code block of the README and of docs/ as it is written, against one real server with real browsers.
// blocks.ts describes the kinds of blocks, and stand-ins.ts says what replaces the internet.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { freePort } from '../fixtures/free-port.ts'
import { classicForm } from '../fixtures/login-zoo/sites/classic-form.ts'
import { newUser } from '../fixtures/login-zoo/kit/site.ts'
import { startZoo } from '../fixtures/login-zoo/zoo.ts'
import { installedPackage, startRegistry } from '../fixtures/npm-registry.ts'
import { mayReachCollectors, OtlpCollector } from '../fixtures/otlp-collector.ts'
import { startProxy } from '../fixtures/proxies.ts'
import { tempDir } from '../fixtures/server.ts'
import { mayReachReceivers } from '../fixtures/webhook-receiver.ts'
import { isFull, pagesOfChange } from '../tiers.ts'
import type { Block } from './blocks.ts'
import { startByCommand } from './npm-start.ts'
import { PageRun } from './page-run.ts'
import { linkPackages, nameOf, PACKAGES, pagesWithBlocks, root } from './pages.ts'
import { replaceAll, standInsFor, startExampleSite } from './stand-ins.ts'

const owner = { after }

const byPage = pagesWithBlocks()
const all = byPage.flatMap(({ blocks }) => blocks)
const named = (fileName: string): Block => {
  const block = all.find((each) => each.fileName === fileName)
  assert.ok(block, `no page has a block with file=${fileName}`)
  return block
}

const directory = tempDir(owner)
const dataDir = join(directory, 'data')
const site = await startExampleSite(owner)
const user = newUser('mail', { username: 'ada', password: 'correct-horse' })
const zoo = await startZoo(owner, [{ ...classicForm, name: 'mail', users: [user] }])
const mail = zoo.site('mail')
const proxy = await startProxy(owner, {
  protocol: 'http',
  exit: '127.0.0.21',
  username: 'berth',
  password: 'secret-of-mine',
})
const defaultProxy = await startProxy(owner, { protocol: 'http', exit: '127.0.0.22', names: [mail.host] })
const registry = await startRegistry(
  owner,
  Object.entries(PACKAGES).map(([name, folder]) => installedPackage(folder, name)),
)
const providers = join(directory, 'providers.json')
const collector = await OtlpCollector.start(owner)
const places = { dataDir, site, mail, proxy, defaultProxy, collector, receiverPort: await freePort() }
// Written before the server has its address, which the file does not need.
const withoutServer = standInsFor({ ...places, serverUrl: '' })
writeFileSync(providers, replaceAll(named('providers.json').code, withoutServer))

const starts = all.filter(({ kind }) => kind === 'start')
const server = await startByCommand(owner, starts[0]!.code, {
  BERTH_DATA_DIR: dataDir,
  BERTH_EGRESS_ALLOW: `127.0.0.0/8,host.berth.internal:${site.port}`,
  ...mayReachCollectors,
  ...mayReachReceivers,
  BERTH_PROXY_CHECK_URLS: `${site.url}/ip`,
  BERTH_PROXY_PROVIDERS: providers,
  ...registry.setting,
})
const standIns = standInsFor({ ...places, serverUrl: server.url })

test('every page starts the server with the same command', () => {
  assert.deepEqual([...new Set(starts.map(({ code }) => code))], ['npm start'])
})

for (const { path, blocks } of byPage) {
  if (blocks.every(({ kind }) => kind === 'config' || kind === 'start')) continue
  if (!isFull() && !pagesOfChange.includes(path)) continue
  describe(path, () => {
    const place = {
      directory: join(directory, nameOf(path)),
      clone: root,
      env: {
        // `berth` is there as if it were installed.
        PATH: `${join(process.execPath, '..')}:${join(root, 'node_modules/.bin')}:${process.env['PATH']}`,
        HOME: process.env['HOME'] ?? '/',
        KERNEL_BASE_URL: server.url,
        KERNEL_API_KEY: server.key,
        BERTH_DATA_DIR: dataDir,
        npm_config_registry: registry.url.replace('host.berth.internal', '127.0.0.1'),
      },
      standIn: (code: string) => replaceAll(code, standIns),
    }
    mkdirSync(place.directory)
    // The quick start installs the packages itself.
    if (!blocks.some(({ code }) => code.includes('npm install'))) linkPackages(place.directory)
    const run = new PageRun(blocks, place)
    after(() => run.stop())
    for (const block of blocks) test(`${block.at} ${block.language} ${block.kind}`, () => run.run(block))
  })
}
