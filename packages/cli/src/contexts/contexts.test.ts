import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { addressOf, choose } from './choose.ts'
import { contextsFile, putContext, readContexts, writeContexts } from './store.ts'

const stored = {
  current: 'home',
  contexts: {
    home: { url: 'http://127.0.0.1:8080', key: 'sk_home', project: 'p1' },
    work: { url: 'https://berth.example.com/', key: 'sk_work' },
  },
}

test('the current context is used when nothing else is said', () => {
  const server = choose(stored, {})
  assert.deepEqual(server, {
    url: 'http://127.0.0.1:8080',
    key: 'sk_home',
    project: 'p1',
    from: 'context home',
  })
})

test('a flag wins over the environment, and that over the current context', () => {
  const env = { KERNEL_BASE_URL: 'http://10.0.0.1:9000/', KERNEL_API_KEY: 'sk_env', KERNEL_PROJECT: 'p2' }
  assert.deepEqual(choose(stored, { env }), {
    url: 'http://10.0.0.1:9000',
    key: 'sk_env',
    project: 'p2',
    from: 'environment',
  })
  const flag = choose(stored, { env, context: 'work', project: 'p3' })
  assert.deepEqual([flag.url, flag.key, flag.project], ['https://berth.example.com', 'sk_work', 'p3'])
})

test('the key of one server never goes to another', () => {
  const elsewhere = choose(stored, { env: { KERNEL_BASE_URL: 'http://evil.example.com' } })
  assert.equal(elsewhere.key, undefined)
  const known = choose(stored, { env: { KERNEL_BASE_URL: 'https://berth.example.com' } })
  assert.equal(known.key, 'sk_work')
})

test('an unknown context is refused, and those that there are are named', () => {
  assert.throws(() => choose(stored, { context: 'nope' }), /Cannot find the context "nope"/)
})

test('an address has a scheme that is http or https', () => {
  assert.equal(addressOf('berth.example.com:8080/'), 'http://berth.example.com:8080')
  assert.throws(() => addressOf('ftp://x'), /must start with http/)
  assert.throws(() => addressOf('http://'), /Cannot use "http:\/\/" as the address/)
})

function newFile(t: TestContext): string {
  const home = mkdtempSync(join(tmpdir(), 'berth-cli-'))
  t.after(() => rmSync(home, { recursive: true }))
  return contextsFile({ XDG_CONFIG_HOME: home })
}

test('the file of the contexts is only for its owner, whatever the umask', async (t) => {
  const file = newFile(t)
  const umask = process.umask(0)
  t.after(() => process.umask(umask))
  await putContext('home', stored.contexts.home, { isCurrent: true, file })
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.equal(statSync(dirname(file)).mode & 0o777, 0o700)
  assert.deepEqual(await readContexts(file), { current: 'home', contexts: { home: stored.contexts.home } })
})

test('a file that others could read is closed when it is read, and so is its directory by the next write', async (t) => {
  const file = newFile(t)
  await writeContexts(stored, file)
  chmodSync(file, 0o644)
  chmodSync(dirname(file), 0o755)
  assert.deepEqual(await readContexts(file), stored)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  await putContext('more', { url: 'http://x' }, { isCurrent: false, file })
  assert.equal(statSync(dirname(file)).mode & 0o777, 0o700)
})

test('a file that others could read is closed by the next write', async (t) => {
  const file = newFile(t)
  await writeContexts(stored, file)
  writeFileSync(file, readFileSync(file), { mode: 0o644 })
  await putContext('more', { url: 'http://x' }, { isCurrent: false, file })
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.equal((await readContexts(file)).current, 'home')
  assert.deepEqual(readdirSync(dirname(file)), ['contexts.json'])
})

test('a damaged file is an error that says what to do', async (t) => {
  const file = newFile(t)
  await writeContexts(stored, file)
  writeFileSync(file, '{')
  await assert.rejects(readContexts(file), /Cannot read .*contexts\.json/)
})

test('a name of a context is a word', async (t) => {
  const file = newFile(t)
  await assert.rejects(putContext('a b', { url: 'http://x' }, { isCurrent: true, file }), /Cannot use "a b"/)
})
