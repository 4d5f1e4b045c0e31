// Reading and replacing the user-data directory of a running agent.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { zstdCompressSync } from 'node:zlib'
import { readTar } from '@berth/codecs/tar/reader'
import { TAR_END, tarHead, tarPadding } from '@berth/codecs/tar/writer'
import { attachToFirstPage } from '../../packages/agent/src/cdp/settle.ts'
import { AgentUnderTest, HEADLESS } from '../fixtures/agent/agent-under-test.ts'
import { evaluate } from '../fixtures/agent/page.ts'
import { allProcesses, eventually, type HostProcess } from '../fixtures/host.ts'

const NOTE = Buffer.from('brought in')
const NOISE = randomBytes(64 * 1024)
const fileOf = (path: string, content: Buffer) => [
  tarHead({ path, kind: 'file', size: content.length, mtimeSeconds: 0 }),
  content,
  tarPadding(content.length),
]
const ARCHIVE = zstdCompressSync(
  Buffer.concat([...fileOf('Default/note', NOTE), ...fileOf('Default/noise', NOISE), TAR_END]),
)

async function ask(agent: AgentUnderTest, method: string, path: string) {
  const socket = await agent.connect('api')
  const sent = request({ createConnection: () => socket, method, path, headers: { connection: 'close' } })
  sent.on('error', () => {})
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>
  answered.catch(() => {})
  return { sent, answered, cut: () => socket.destroy() }
}

async function readBytes(agent: AgentUnderTest, then: string): Promise<Buffer> {
  const { sent, answered } = await ask(agent, 'GET', `/profile?then=${then}`)
  sent.end()
  const [answer] = await answered
  assert.equal(answer.statusCode, 200)
  return buffer(answer)
}

async function read(agent: AgentUnderTest, then: string): Promise<string[]> {
  const paths: string[] = []
  for await (const { path } of readTar(Readable.from([await readBytes(agent, then)]))) paths.push(path)
  return paths
}

async function write(agent: AgentUnderTest, bytes: Buffer): Promise<number> {
  const { sent, answered } = await ask(agent, 'PUT', '/profile?tabs=keep')
  sent.end(bytes)
  const [answer] = await answered
  answer.resume()
  return answer.statusCode!
}

test('a user-data directory is read and replaced completely, or nothing changes', async (t) => {
  const agent = await AgentUnderTest.start(t, { browser: HEADLESS })
  const home = join(agent.directory, 'home')
  const note = join(home, 'user-data', 'Default', 'note')
  const first = await agent.ready()

  // The upload ends in the middle, as if the server was killed.
  const half = await ask(agent, 'PUT', '/profile?tabs=keep')
  half.sent.write(ARCHIVE.subarray(0, 6_000))
  await new Promise((resolve) => setTimeout(resolve, 200))
  half.cut()
  assert.equal(await write(agent, ARCHIVE.subarray(0, 6_000)), 500)
  assert.equal((await agent.state()).devtools_path, first.devtools_path, 'the browser was not restarted')
  assert.ok(!existsSync(note))

  assert.equal(await write(agent, ARCHIVE), 204)
  const second = await agent.state()
  assert.equal(second.browser, 'ready')
  assert.notEqual(second.devtools_path, first.devtools_path)
  assert.equal(readFileSync(note, 'utf8'), 'brought in')
  assert.ok(readFileSync(join(home, 'user-data', 'Default', 'noise')).equals(NOISE))
  assert.deepEqual(
    readdirSync(home).filter((name) => name.includes('arriving')),
    [],
  )

  // The reader disconnects; the browser still starts again.
  const left = await ask(agent, 'GET', '/profile?then=reopen')
  left.sent.end()
  await left.answered
  left.cut()
  const third = await agent.until(
    ({ browser, devtools_path }) => browser === 'ready' && devtools_path !== second.devtools_path,
  )
  const paths = await read(agent, 'reopen')
  assert.ok(paths.includes('Default/note') && paths.includes('Local State'))
  assert.ok(!paths.some((path) => /^(Singleton|Default\/Cache\/|Default\/Code Cache\/)/.test(path)))
  const fourth = await agent.ready()
  assert.notEqual(fourth.devtools_path, third.devtools_path)

  // As at the end of a session, and again for the next server.
  for (let times = 0; times < 2; times++) assert.ok((await read(agent, 'stay')).includes('Default/note'))
  assert.equal((await agent.state()).browser, 'restarting')
})

test('what a page stored last is in the user-data directory, also if Chromium is slow to write it', async (t) => {
  const agent = await AgentUnderTest.start(t, { browser: HEADLESS })
  await agent.ready()
  const home = join(agent.directory, 'home')
  writeFileSync(join(home, 'page.html'), '<title>A page</title>')
  using cdp = await agent.openCdp()
  const { sessionId } = await attachToFirstPage(cdp)
  await cdp.call('Page.navigate', { url: `file://${home}/page.html` }, sessionId)
  const lastWords = 'the last words of a page'
  const expression = `localStorage.setItem('last', ${JSON.stringify(lastWords)}), location.href`
  await eventually(
    'the page has stored them',
    async () => (await evaluate(cdp, expression)) !== 'about:blank',
  )

  const isBrowser = ({ command }: HostProcess) =>
    command.includes(`--user-data-dir=${home}/`) && !command.includes(' --type=')
  const browser = allProcesses().find(isBrowser)!
  const writer = allProcesses().find(
    ({ pid, command }) => groupOf(pid) === browser.pid && command.includes('=storage.mojom.StorageService'),
  )!
  // As slow as on a busy machine: it does nothing before the browser ends, or waits for it.
  process.kill(writer.pid, 'SIGSTOP')
  t.after(() => endIfThere(writer.pid))
  const saved = readBytes(agent, 'stay')
  await eventually('the browser has ended or waits', () => {
    const found = allProcesses().find(isBrowser)
    return found === undefined || found.state === 'T'
  })
  process.kill(writer.pid, 'SIGCONT')
  assert.ok((await saved).includes(lastWords))
})

function groupOf(pid: number): number | undefined {
  try {
    // After the command's name, which can contain spaces: state, parent, group.
    return Number(readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ')[2])
  } catch {
    return undefined
  }
}

function endIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
