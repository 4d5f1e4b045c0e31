import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { FileEvent } from './file-event.ts'
import { Watches } from './watches.ts'

interface Fixture {
  readonly directory: string
  readonly watches: Watches
  readonly id: string
  /** Resolves with all events up to the given one, such as "CREATE a/b". */
  readonly until: (last: string) => Promise<string[]>
}

const BOUND_MS = 10_000

async function start(
  t: TestContext,
  { recursive = false, prepare = (_directory: string) => {} } = {},
): Promise<Fixture> {
  const directory = mkdtempSync(join(tmpdir(), 'berth-watch-'))
  prepare(directory)
  const watches = new Watches()
  const id = await watches.start({ path: directory, recursive })
  t.after(() => {
    try {
      watches.stop(id)
    } catch {
      // The test stopped it.
    }
    rmSync(directory, { recursive: true, force: true })
  })
  const until = (last: string) => readUntil(watches, id, { directory, last })
  return { directory, watches, id, until }
}

async function readUntil(
  watches: Watches,
  id: string,
  { directory, last }: { directory: string; last: string },
): Promise<string[]> {
  const events: string[] = []
  const reading = new AbortController()
  const late = setTimeout(() => reading.abort(), BOUND_MS)
  for await (const event of watches.read(id, reading.signal)) {
    events.push(shown(event, directory))
    if (events.at(-1) === last) reading.abort()
  }
  clearTimeout(late)
  assert.equal(events.at(-1), last, events.join('\n'))
  return events
}

function shown({ type, path, name, is_dir }: FileEvent, directory: string): string {
  assert.ok(path === directory || path.startsWith(`${directory}/`), path)
  if (type !== 'OVERFLOW') assert.equal(name, path.split('/').at(-1))
  return `${type} ${path.slice(directory.length + 1)}${is_dir && type !== 'OVERFLOW' ? '/' : ''}`
}

/** The last change in a test: once it is reported, so is everything before it. */
const done = (directory: string) => mkdirSync(join(directory, 'done'))
const DONE = 'CREATE done/'

test('a watch reports files that are created, changed and deleted', async (t) => {
  const { directory, until } = await start(t)
  const file = join(directory, 'file')
  writeFileSync(file, '')
  await until('CREATE file')
  appendFileSync(file, 'more')
  await until('WRITE file')
  chmodSync(file, 0o600)
  renameSync(file, join(directory, 'other'))
  await until('WRITE other')
  unlinkSync(join(directory, 'other'))
  done(directory)
  assert.deepEqual(await until(DONE), [
    'CREATE file',
    'WRITE file',
    'RENAME file',
    'CREATE other',
    'WRITE other',
    'DELETE other',
    DONE,
  ])
})

test('every reader gets every event and the end, even a late reader', async (t) => {
  const { directory, watches, id, until } = await start(t)
  const early = until(DONE)
  for (let index = 0; index < 50; index++) writeFileSync(join(directory, `file-${index}`), '')
  done(directory)
  const first = await early
  assert.equal(first.length, 51)
  assert.deepEqual(await until(DONE), first)
  const reading = Array.fromAsync(watches.read(id, new AbortController().signal))
  watches.stop(id)
  assert.equal((await reading).length, 51)
  assert.throws(() => watches.stop(id), { code: 'not_found' })
})

test('new directories are followed, including entries made before the watch was set', async (t) => {
  const { directory, until } = await start(t, {
    recursive: true,
    prepare: (at) => mkdirSync(join(at, 'old/deep'), { recursive: true }),
  })
  writeFileSync(join(directory, 'old/deep/file'), '')
  await until('CREATE old/deep/file')
  mkdirSync(join(directory, 'new/deep/er'), { recursive: true })
  writeFileSync(join(directory, 'new/deep/er/file'), 'content')
  await until('WRITE new/deep/er/file')
  renameSync(join(directory, 'new'), join(directory, 'moved'))
  await until('CREATE moved/deep/er/file')
  writeFileSync(join(directory, 'moved/deep/er/another'), '')
  const events = await until('CREATE moved/deep/er/another')
  for (const event of [
    'CREATE new/',
    'CREATE new/deep/',
    'CREATE new/deep/er/',
    'RENAME new/',
    'CREATE moved/',
  ]) {
    assert.ok(events.includes(event), `${event} in\n${events.join('\n')}`)
  }
  rmSync(join(directory, 'moved'), { recursive: true })
  await until('DELETE moved/')
})

test('without recursion nothing below the directory is reported', async (t) => {
  const { directory, until } = await start(t, { prepare: (at) => mkdirSync(join(at, 'below')) })
  writeFileSync(join(directory, 'below/file'), '')
  done(directory)
  assert.deepEqual(await until(DONE), [DONE])
})

test('a short-lived file is reported as created and deleted', async (t) => {
  const { directory, until } = await start(t)
  for (let index = 0; index < 20; index++) {
    writeFileSync(join(directory, `brief-${index}`), '')
    unlinkSync(join(directory, `brief-${index}`))
  }
  done(directory)
  const events = await until(DONE)
  const expected = Array.from({ length: 20 }, (_, index) => [
    `CREATE brief-${index}`,
    `DELETE brief-${index}`,
  ])
  assert.deepEqual(events, [...expected.flat(), DONE])
})

test('a file that replaces another is reported as new', async (t) => {
  const { directory, until } = await start(t, { prepare: (at) => writeFileSync(join(at, 'file'), 'old') })
  writeFileSync(join(directory, '.berth-abc.part'), 'new')
  renameSync(join(directory, '.berth-abc.part'), join(directory, 'file'))
  done(directory)
  assert.deepEqual(await until(DONE), ['CREATE file', 'WRITE file', DONE])
})

test('names that are not UTF-8 are reported as closely as possible', async (t) => {
  const { directory, until } = await start(t)
  const name = Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0x61, 0xff])])
  writeFileSync(name, '')
  unlinkSync(name)
  assert.deepEqual(await until('DELETE a\u{fffd}'), ['CREATE a\u{fffd}', 'DELETE a\u{fffd}'])
})

test('a directory is watched through a link to it', async (t) => {
  const { directory, watches } = await start(t, { prepare: (at) => mkdirSync(join(at, 'real')) })
  symlinkSync('real', join(directory, 'link'))
  const path = join(directory, 'link')
  const id = await watches.start({ path })
  writeFileSync(join(directory, 'real/link'), '')
  assert.deepEqual(await readUntil(watches, id, { directory: path, last: 'CREATE link' }), ['CREATE link'])
  watches.stop(id)
})

test('deleting the directory itself ends the stream', async (t) => {
  const { directory, watches, id, until } = await start(t)
  writeFileSync(join(directory, 'file'), '')
  await until('CREATE file')
  rmSync(directory, { recursive: true })
  const events = await Array.fromAsync(watches.read(id, new AbortController().signal))
  assert.deepEqual(
    events.map(({ type, path }) => ({ type, path })),
    [
      { type: 'CREATE', path: join(directory, 'file') },
      { type: 'DELETE', path: join(directory, 'file') },
      { type: 'DELETE', path: directory },
    ],
  )
})

test('more events than the kernel queues are reported as an overflow, and the changes are found afterwards', async (t) => {
  const { directory, watches, id, until } = await start(t, { recursive: true })
  mkdirSync(join(directory, 'many'))
  await until('CREATE many/')
  // Synchronous, so that events pile up: more than the 16,384 that Linux queues.
  execFileSync('sh', [
    '-c',
    'cd "$1"; seq 20000 | xargs touch; rm [1-5]*; mkdir late',
    'sh',
    join(directory, 'many'),
  ])
  const reading = new AbortController()
  const late = setTimeout(() => reading.abort(), BOUND_MS)
  const left = new Set<string>()
  let overflows = 0
  for await (const { type, name = '' } of watches.read(id, reading.signal)) {
    if (type === 'OVERFLOW') overflows++
    else if (type === 'CREATE') left.add(name)
    else if (type === 'DELETE') left.delete(name)
    if (name === 'late') writeFileSync(join(directory, 'many/late/after'), '')
    if (name === 'after') reading.abort()
  }
  clearTimeout(late)
  assert.ok(overflows > 0)
  assert.ok(left.has('after'), 'the directory that came during the overflow is watched')
})

test('a slow reader learns what it missed, and the log stays bounded', async (t) => {
  const { directory, watches, id } = await start(t)
  for (let index = 0; index < 10_000; index++) {
    writeFileSync(join(directory, String(index)), '')
    if (index % 1_000 === 999) await readUntil(watches, id, { directory, last: `CREATE ${index}` })
  }
  const events: FileEvent[] = []
  const reading = new AbortController()
  for await (const event of watches.read(id, reading.signal)) {
    events.push(event)
    if (event.name === '9999') reading.abort()
  }
  assert.equal(events[0]!.type, 'OVERFLOW')
  assert.ok(events.length <= 8_193, String(events.length))
})

test('watching a file, a missing path or too much is refused', async (t) => {
  const { directory, watches } = await start(t, { prepare: (at) => writeFileSync(join(at, 'file'), '') })
  await assert.rejects(watches.start({ path: join(directory, 'file') }), { code: 'bad_request' })
  await assert.rejects(watches.start({ path: join(directory, 'none') }), { code: 'not_found' })
  const ids: string[] = []
  await assert.rejects(
    async () => {
      for (;;) ids.push(await watches.start({ path: directory }))
    },
    { code: 'too_many_requests' },
  )
  assert.equal(ids.length, 31)
  watches.stop(ids.pop()!)
  ids.push(await watches.start({ path: directory }))
  const gone = new AbortController()
  for (let count = 0; count < 64; count++) watches.read(ids[0]!, gone.signal)
  assert.throws(() => watches.read(ids[0]!, gone.signal), { code: 'too_many_requests' })
  gone.abort()
  watches.read(ids[0]!, AbortSignal.abort())
  for (const id of ids) watches.stop(id)
})
