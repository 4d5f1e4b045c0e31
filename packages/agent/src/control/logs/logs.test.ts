import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ControlError } from '../calls/operation.ts'
import { FileLog } from './file-log.ts'
import { LineCutter } from '../../log/line-cutter.ts'
import { ServiceLog } from '../../log/service-log.ts'

const directory = mkdtempSync(join(tmpdir(), 'berth-logs-'))
after(() => rmSync(directory, { recursive: true }))
const pathOf = (name: string) => join(directory, name)
const never = new AbortController().signal

async function collect(lines: AsyncIterable<string>): Promise<string[]> {
  const collected: string[] = []
  for await (const line of lines) collected.push(line)
  return collected
}

test('lines are the same, whatever chunks they are in', () => {
  const text = 'one\r\n\nthrée\nlast'
  for (const size of [1, 2, 3, 100]) {
    const cutter = new LineCutter()
    const bytes = Buffer.from(text)
    const lines: string[] = []
    for (let at = 0; at < bytes.length; at += size) lines.push(...cutter.take(bytes.subarray(at, at + size)))
    assert.deepEqual([...lines, ...cutter.rest()], ['one', '', 'thrée', 'last'])
    assert.deepEqual(cutter.rest(), [])
  }
})

test('a line that is too long is cut, and says how much is missing', () => {
  const cutter = new LineCutter()
  const long = 'x'.repeat(64 * 1024)
  assert.deepEqual(cutter.take(Buffer.from(`${long}\n${long}abc`)), [long])
  assert.deepEqual(cutter.take(Buffer.from('de\nnext\n')), [
    `${long} [berth: 5 more bytes of this line are left out]`,
    'next',
  ])
})

test('a file is read from its beginning to its end, including a last line without a newline', async () => {
  writeFileSync(pathOf('whole'), `${'line\n'.repeat(20_000)}last`)
  const file = new FileLog(pathOf('whole'), { fromEnd: false })
  const lines = await collect(file.read({ follow: false, signal: never }))
  assert.equal(lines.length, 20_001)
  assert.equal(lines.at(-1), 'last')
})

test('a file is followed from its end, over truncation and rotation', { timeout: 10_000 }, async () => {
  const path = pathOf('followed')
  writeFileSync(path, 'before\n')
  const over = new AbortController()
  const lines = new FileLog(path, { fromEnd: true }).read({ follow: true, signal: over.signal })
  const next = async () => (await lines.next()).value as string
  appendFileSync(path, 'one\ntw')
  assert.equal(await next(), 'one')
  appendFileSync(path, 'o\n')
  assert.equal(await next(), 'two')
  truncateSync(path)
  appendFileSync(path, '3\n')
  assert.equal(await next(), '3')
  appendFileSync(path, 'four')
  renameSync(path, `${path}.1`)
  appendFileSync(`${path}.1`, ' is the last of the old one')
  writeFileSync(path, 'five\n')
  assert.equal(await next(), 'four is the last of the old one')
  assert.equal(await next(), 'five')
  rmSync(path)
  writeFileSync(path, 'six\n')
  assert.equal(await next(), 'six')
  over.abort()
  assert.equal((await lines.next()).done, true)
})

test('a file of /proc is followed without being read again and again', { timeout: 10_000 }, async () => {
  const file = new FileLog('/proc/version', { fromEnd: true })
  const over = new AbortController()
  setTimeout(() => over.abort(), 500)
  assert.equal((await collect(file.read({ follow: true, signal: over.signal }))).length, 1)
})

function refused(path: string): string | undefined {
  try {
    void new FileLog(path, { fromEnd: true })
  } catch (error) {
    assert.ok(error instanceof ControlError && error.message.includes(path))
    return error.code
  }
  return undefined
}

test('a missing path and a path that is not a file are refused, with the path', () => {
  assert.equal(refused(pathOf('missing')), 'not_found')
  assert.equal(refused(directory), 'bad_request')
  assert.equal(refused('/dev/null'), 'bad_request')
})

test('a service log keeps the latest lines, and tells a slow reader how many it missed', async () => {
  const log = new ServiceLog()
  const over = new AbortController()
  const lines = log.read({ follow: true, signal: over.signal })
  const next = async () => ((await lines.next()).value as { message: string }).message
  const first = next()
  log.append(Buffer.from('hal'))
  log.append(Buffer.from('f\n'))
  assert.equal(await first, 'half')
  for (let count = 0; count < 300; count++) log.add('x'.repeat(1024))
  assert.match(await next(), /^\[berth: 44 lines are missing here\]$/)
  const kept = await Array.fromAsync(log.read({ follow: false, signal: never }))
  assert.equal(kept.length, 256)
  over.abort()
})
