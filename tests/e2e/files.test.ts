// Files of real instances through the published clients, with a key and with the session token.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { client55, client70, client84 } from '../client/versions.ts'
import { eventually } from '../fixtures/host.ts'
import { partsOf } from '../fixtures/parts.ts'
import { startServer } from '../fixtures/server.ts'
import { instanceOf } from '../fixtures/sessions.ts'

const MB = 1024 * 1024
const DISK_MB = 220
const MAX_FILE_MB = 160
const LARGE_MB = 128
const server = await startServer(
  { after },
  {
    hasRealInstances: true,
    env: { BERTH_SESSION_DISK_MB: String(DISK_MB), BERTH_MAX_FILE_MB: String(MAX_FILE_MB) },
  },
)
const clients = { '0.55': client55(server), '0.70': client70(server), '0.84': client84(server) }
const { browsers } = clients['0.84']
const session = await browsers.create({ headless: true, timeout_seconds: 300 })
const id = session.session_id
const { fs } = browsers
const HOME = '/home/kernel'

// Runs from here on while the other tests run; see the last one.
const READ_FOR_MS = 12_000
const unread = await browsers.create({ headless: true, timeout_seconds: 10 })
const read = await browsers.create({ headless: true, timeout_seconds: 10 })
await fs.watch.start(unread.session_id, { path: HOME })
const { watch_id: readWatch } = await fs.watch.start(read.session_id, { path: HOME })
const reading = await fs.watch.events(readWatch!, { id: read.session_id })
const begunAt = performance.now()

const names = async (path: string) => (await fs.listFiles(id, { path })).map(({ name }) => name)
const text = async (path: string) => (await fs.readFile(id, { path })).text()
/** Without automatic retries. */
const put = (path: string, body: string, headers: Record<string, string> = {}) =>
  server.fetch(`/browsers/${id}/fs/${path}`, { method: 'PUT', body, headers })

/** Without a content length. */
function writeStream(
  path: string,
  megabytes: number,
  piece: Uint8Array = Buffer.alloc(MB),
): Promise<Response> {
  const pieces = async function* () {
    for (let count = 0; count < megabytes; count++) yield piece
  }
  const init = { method: 'PUT', body: ReadableStream.from(pieces()), duplex: 'half' as const }
  return server.fetch(`/browsers/${id}/fs/write_file?path=${path}`, init)
}

/** A request whose body is missing or incomplete. */
function begin(path: string, length: number) {
  const sent = request(`${server.url}/browsers/${id}/fs/write_file?path=${path}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${server.key}`, 'content-length': length },
  })
  sent.on('error', () => {})
  return sent
}

async function refusalOf(answer: Response): Promise<{ status: number; code: string; message: string }> {
  return { status: answer.status, ...((await answer.json()) as { code: string; message: string }) }
}

for (const [version, client] of Object.entries(clients)) {
  test(`client ${version} calls every operation on files`, async () => {
    const { fs: its } = client.browsers
    const top = `${HOME}/${version}`
    await its.createDirectory(id, { path: `${top}/sub`, mode: '700' })
    await its.writeFile(id, Buffer.from('written'), { path: `${top}/file`, mode: '600' })
    await its.writeFile(id, 'a text', { path: `${top}/text` })
    assert.equal(await (await its.readFile(id, { path: `${top}/file` })).text(), 'written')
    const { mod_time, ...info } = await its.fileInfo(id, { path: `${top}/file` })
    assert.deepEqual(info, {
      name: 'file',
      path: `${top}/file`,
      size_bytes: 7,
      is_dir: false,
      mode: '-rw-------',
    })
    assert.ok(Math.abs(Date.now() - Date.parse(mod_time)) < 60_000)
    await its.move(id, { src_path: `${top}/file`, dest_path: `${top}/sub/moved` })
    await its.setFilePermissions(id, {
      path: `${top}/sub/moved`,
      mode: '0644',
      owner: 'kernel',
      group: 'root',
    })
    await its.upload(id, {
      files: [
        { dest_path: `${top}/sub/one`, file: new File(['one'], 'ignored') },
        { file: new File(['two'], 'ignored'), dest_path: `${top}/new/two` },
      ],
    })
    const list = await its.listFiles(id, { path: `${top}/sub` })
    assert.deepEqual(
      list.map(({ name, mode }) => [name, mode]),
      [
        ['moved', '-rw-r--r--'],
        ['one', '-rw-r--r--'],
      ],
    )
    const zip = new File([await (await its.downloadDirZip(id, { path: top })).blob()], 'all.zip')
    await its.uploadZip(id, { dest_path: `${top}/back`, zip_file: zip })
    assert.equal(await text(`${top}/back/sub/moved`), 'written')
    assert.equal(await text(`${top}/back/new/two`), 'two')
    await its.deleteFile(id, { path: `${top}/text` })
    await assert.rejects(its.deleteFile(id, { path: `${top}/text` }), { status: 404 })
    await its.deleteDirectory(id, { path: `${top}/back` })
    await its.deleteDirectory(id, { path: `${top}/back` })
    assert.deepEqual(await names(top), ['new', 'sub'])
  })

  test(`client ${version} watches a directory`, async () => {
    const { fs: its } = client.browsers
    const path = `${HOME}/watched-${version}`
    await its.createDirectory(id, { path })
    const { watch_id } = await its.watch.start(id, { path, recursive: true })
    const streams = [await its.watch.events(watch_id!, { id }), await its.watch.events(watch_id!, { id })]
    await its.writeFile(id, 'content', { path: `${path}/sub/file` })
    await its.move(id, { src_path: `${path}/sub/file`, dest_path: `${path}/sub/other` })
    await its.deleteFile(id, { path: `${path}/sub/other` })
    for (const stream of streams) {
      const seen: string[] = []
      for await (const { type, path: at, name, is_dir } of stream) {
        assert.equal(at.split('/').at(-1), name)
        assert.equal(is_dir, name === 'sub')
        seen.push(`${type} ${name}`)
        if (type === 'DELETE') break
      }
      const told = ['CREATE sub', 'CREATE file', 'WRITE file', 'RENAME file', 'CREATE other']
      for (const event of told) assert.ok(seen.includes(event), `${event} in ${seen.join(', ')}`)
      assert.equal(seen.at(-1), 'DELETE other')
    }
    const ending = await its.watch.events(watch_id!, { id })
    const ended = Array.fromAsync(ending)
    await its.watch.stop(watch_id!, { id })
    assert.ok((await ended).length > 5)
    await assert.rejects(its.watch.stop(watch_id!, { id }), { status: 404 })
  })
}

test('the published client reaches files directly with the session token', async () => {
  const before = process.env['KERNEL_BROWSER_ROUTING_SUBRESOURCES']
  process.env['KERNEL_BROWSER_ROUTING_SUBRESOURCES'] = 'fs'
  const asked: string[] = []
  const direct = client84(server, {
    fetch: (input, init) => {
      const url = new URL(input instanceof Request ? input.url : input)
      asked.push(url.pathname)
      return fetch(input, init)
    },
  })
  if (before === undefined) delete process.env['KERNEL_BROWSER_ROUTING_SUBRESOURCES']
  else process.env['KERNEL_BROWSER_ROUTING_SUBRESOURCES'] = before
  await direct.browsers.retrieve(id)
  const path = `${HOME}/direct/file`
  await direct.browsers.fs.writeFile(id, 'direct', { path })
  assert.equal(await (await direct.browsers.fs.readFile(id, { path })).text(), 'direct')
  await direct.browsers.fs.upload(id, { files: [{ dest_path: `${path}2`, file: new File(['2'], 'x') }] })
  const { watch_id } = await direct.browsers.fs.watch.start(id, { path: `${HOME}/direct` })
  const events = await direct.browsers.fs.watch.events(watch_id!, { id })
  await direct.browsers.fs.deleteFile(id, { path: `${path}2` })
  for await (const { type, name } of events) {
    assert.deepEqual([type, name], ['DELETE', 'file2'])
    break
  }
  await direct.browsers.fs.watch.stop(watch_id!, { id })
  assert.equal(
    asked.filter((pathname) => pathname.startsWith('/browser/kernel/fs/')).length,
    7,
    asked.join('\n'),
  )
})

test('a write accepts any content type, also none, and answers 201', async () => {
  for (const [name, body, type] of [
    ['json', '{"a":1}', 'application/json'],
    ['broken-json', '{', 'application/json'],
    ['form', 'a=b', 'application/x-www-form-urlencoded'],
    ['text', 'text', 'text/plain'],
    ['odd', 'odd', 'x-none/of-these; charset=nothing'],
    ['empty', '', 'application/octet-stream'],
  ] as const) {
    const answer = await put(`write_file?path=${HOME}/types/${name}`, body, { 'content-type': type })
    assert.equal(answer.status, 201, name)
    assert.equal(await text(`${HOME}/types/${name}`), body)
  }
  const sent = begin(`${HOME}/types/none`, 0).end()
  const [answer] = (await once(sent, 'response')) as [{ statusCode: number }]
  assert.equal(answer.statusCode, 201)
  assert.equal((await fs.fileInfo(id, { path: `${HOME}/types/none` })).size_bytes, 0)
})

test('an unexpected body does not become a request to the agent', async () => {
  const body = JSON.stringify({ note: 'GET /control/fs/file_info?path=/ HTTP/1.1' })
  for (let count = 0; count < 4; count++) {
    const answer = await server.fetch(`/browsers/${id}/fs/watch/none`, {
      method: 'DELETE',
      body,
      headers: { 'content-type': 'application/json' },
    })
    assert.equal((await refusalOf(answer)).status, 404)
  }
})

test('files move completely from one file system to another', async () => {
  await fs.createDirectory(id, { path: `${HOME}/across/sub` })
  const content = randomBytes(3 * MB)
  await fs.writeFile(id, content, { path: `${HOME}/across/sub/file`, mode: '751' })
  const before = await fs.fileInfo(id, { path: `${HOME}/across/sub/file` })
  await fs.move(id, { src_path: `${HOME}/across`, dest_path: '/tmp/across' })
  assert.deepEqual(
    Buffer.from(await (await fs.readFile(id, { path: '/tmp/across/sub/file' })).arrayBuffer()),
    content,
  )
  const { mode, mod_time } = await fs.fileInfo(id, { path: '/tmp/across/sub/file' })
  assert.deepEqual({ mode, mod_time }, { mode: '-rwxr-x--x', mod_time: before.mod_time })
  assert.ok(!(await names(HOME)).includes('across'))
  await fs.move(id, { src_path: '/tmp/across/sub/file', dest_path: `${HOME}/moved` })
  assert.deepEqual(await names('/tmp/across/sub'), [])
  assert.ok(!(await names('/tmp')).some((name) => name.startsWith('.berth')))
})

test('system directories of the instance cannot be deleted or moved', async () => {
  for (const path of ['/', '/home', HOME, '/proc', '/dev', '/tmp', '/run', '/run/berth', `${HOME}/../..`]) {
    const answer = await put('delete_directory', JSON.stringify({ path }), {
      'content-type': 'application/json',
    })
    assert.equal(answer.status, 409, path)
  }
  const move = await put('move', JSON.stringify({ src_path: HOME, dest_path: '/tmp/home' }), {
    'content-type': 'application/json',
  })
  assert.equal(move.status, 409)
  assert.ok((await names(HOME)).includes('user-data'))
})

const hostileWrites: Record<string, { path: string; statuses: readonly number[] }> = {
  'a relative path': { path: 'x', statuses: [400] },
  '..': { path: '..', statuses: [400] },
  'a path above the root': { path: '/../../x', statuses: [400] },
  NUL: { path: `${HOME}/a\0b`, statuses: [400] },
  '4097 bytes': { path: `/${'x'.repeat(4096)}`, statuses: [400] },
  'a setting of the kernel': { path: '/proc/sys/kernel/core_pattern', statuses: [400, 404] },
  'the memory of the machine': { path: '/dev/mem', statuses: [400] },
  'a device': { path: '/dev/null', statuses: [400] },
  'a directory': { path: HOME, statuses: [400] },
  'a file of the system': { path: '/etc/passwd', statuses: [400] },
  'the program of the agent': { path: '/run/berth-agent/agent.mjs', statuses: [400] },
  'the memory of the agent': { path: '/proc/self/mem', statuses: [400] },
  'the socket to the network': { path: '/run/berth/egress.sock', statuses: [400] },
  'a file under a file': { path: '/etc/passwd/x', statuses: [409] },
}

for (const [what, { path, statuses }] of Object.entries(hostileWrites)) {
  test(`a write to ${what} is refused`, async () => {
    const answer = await put(`write_file?path=${encodeURIComponent(path)}`, 'content')
    const { status, code, message } = await refusalOf(answer)
    assert.ok(statuses.includes(status), `${status} ${code}: ${message}`)
    assert.ok(code && message)
  })
}

for (const mode of ['9', '00644', '', '88', '7777777', '-755', '0x1ff']) {
  test(`mode "${mode}" is refused`, async () => {
    assert.equal((await put(`write_file?path=${HOME}/mode&mode=${mode}`, '')).status, 400)
  })
}

test('unreadable files are refused, still listed, and left out of archives', async () => {
  const top = `${HOME}/forbidden`
  await fs.createDirectory(id, { path: `${top}/closed`, mode: '000' })
  await fs.writeFile(id, 'secret', { path: `${top}/file`, mode: '000' })
  await fs.writeFile(id, 'open', { path: `${top}/open` })
  await assert.rejects(fs.readFile(id, { path: `${top}/file` }), { status: 400 })
  await assert.rejects(fs.listFiles(id, { path: `${top}/closed` }), { status: 400 })
  await assert.rejects(fs.writeFile(id, 'x', { path: `${top}/closed/x` }), { status: 400 })
  assert.deepEqual(await names(top), ['closed', 'file', 'open'])
  const zip = new File([await (await fs.downloadDirZip(id, { path: top })).blob()], 'all.zip')
  await fs.uploadZip(id, { dest_path: `${top}/back`, zip_file: zip })
  assert.deepEqual(await names(`${top}/back`), ['closed', 'open'])
})

test('a set-user-id bit has no effect in an instance', async () => {
  await fs.writeFile(id, 'x', { path: `${HOME}/suid`, mode: '4755' })
  assert.equal((await fs.fileInfo(id, { path: `${HOME}/suid` })).mode, '-rwsr-xr-x')
  assert.match(await text('/proc/self/status'), /^NoNewPrivs:\t1$/m)
})

test('more than the limit is refused, with and without a content length, and nothing of it stays', async () => {
  const before = await names(HOME)
  const sent = begin(`${HOME}/declared`, (MAX_FILE_MB + 1) * MB)
  sent.flushHeaders()
  const [answer] = (await once(sent, 'response')) as [{ statusCode: number }]
  assert.equal(answer.statusCode, 413)
  sent.destroy()
  const undeclared = await refusalOf(await writeStream(`${HOME}/undeclared`, MAX_FILE_MB + 1))
  assert.equal(undeclared.status, 413)
  assert.match(undeclared.message, /BERTH_MAX_FILE_MB/)
  await eventually('nothing stays', async () => (await names(HOME)).length === before.length)
})

test('a large file passes both ways without being buffered by the server or the agent', async (t) => {
  const piece = randomBytes(MB)
  const [agent] = partsOf(await instanceOf(server, session), 'agent')
  const residents = () => [server.pid, agent!.pid].map(residentMegabytes)
  const hashOf = (megabytes: number) => {
    const hash = createHash('sha256')
    for (let count = 0; count < megabytes; count++) hash.update(piece)
    return hash.digest('hex')
  }
  const passes = {
    written: async (megabytes: number) => {
      const answer = await writeStream(`${HOME}/large`, megabytes, piece)
      assert.equal(answer.status, 201, await answer.text())
    },
    read: async (megabytes: number) => {
      const answer = await fs.readFile(id, { path: `${HOME}/large` })
      assert.equal(answer.headers.get('content-length'), String(megabytes * MB))
      const back = createHash('sha256')
      for await (const chunk of answer.body!) back.update(chunk)
      assert.equal(back.digest('hex'), hashOf(megabytes))
    },
  }
  const mostWhile = async (work: () => Promise<void>) => {
    let most = residents()
    const looking = setInterval(() => {
      const now = residents()
      most = most.map((megabytes, index) => Math.max(megabytes, now[index]!))
    }, 10)
    await work()
    clearInterval(looking)
    return most
  }
  const start = residents()
  for (const [what, pass] of Object.entries(passes)) {
    const most = await mostWhile(() => pass(LARGE_MB))
    const grown = most.map((megabytes, index) => Math.round(megabytes - start[index]!))
    t.diagnostic(`${what}: server and agent grew by ${grown.join(' and ')} MB`)
    assert.ok(
      grown.every((megabytes) => megabytes <= 48),
      `${what}: server and agent grew by ${grown.join(' and ')} MB`,
    )
  }
})

test('a full disk has its own error, and nothing of the write stays', async () => {
  const before = await names(HOME)
  const room = DISK_MB - LARGE_MB
  const undeclared = await refusalOf(await writeStream(`${HOME}/full`, room + 1))
  assert.deepEqual([undeclared.status, undeclared.code], [507, 'insufficient_storage'])
  const sent = begin(`${HOME}/full`, (room + 1) * MB)
  sent.flushHeaders()
  const [declared] = (await once(sent, 'response')) as [{ statusCode: number }]
  assert.equal(declared.statusCode, 507)
  sent.destroy()
  assert.deepEqual(await names(HOME), before)
  await fs.writeFile(id, 'ok after', { path: `${HOME}/after` })
  await fs.deleteFile(id, { path: `${HOME}/large` })
})

test('a write whose client disconnects leaves nothing', async () => {
  const before = await names(HOME)
  const sent = begin(`${HOME}/broken-off`, 20 * MB)
  sent.write(Buffer.alloc(10 * MB))
  await eventually('something is being written', async () => (await names(HOME)).length > before.length)
  sent.destroy()
  await eventually('it is gone', async () => (await names(HOME)).length === before.length)
  assert.deepEqual(await names(HOME), before)
})

test('a hostile archive is refused with its reason, also through the server', async () => {
  const before = await names(HOME)
  const file = new File(['PK\x03\x04 and nothing else'], 'x.zip')
  await assert.rejects(fs.uploadZip(id, { dest_path: `${HOME}/unzipped`, zip_file: file }), {
    status: 400,
    message: /Cannot unpack the archive/,
  })
  assert.deepEqual(await names(HOME), before)
})

async function isThere({ session_id }: { session_id: string }): Promise<boolean> {
  return (await server.fetch(`/browsers/${session_id}`)).status === 200
}

test('a watch without a reader does not keep its session active, one with a reader does', async () => {
  await eventually('the one without a reader has timed out', async () => !(await isThere(unread)))
  const left = begunAt + READ_FOR_MS - performance.now()
  if (left > 0) await delay(left)
  assert.ok(await isThere(read))
  reading.controller.abort()
})

function residentMegabytes(pid: number): number {
  return (Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096) / MB
}
