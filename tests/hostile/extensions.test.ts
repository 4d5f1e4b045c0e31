// Malformed archives, lying forms, and a fake store.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { archiveOf, type EntryOptions } from '../fixtures/zip.ts'
import { assertError } from '../conformance/error-answer.ts'
import { formBody } from '../conformance/form-body.ts'
import { HttpCaller, type Answer } from '../conformance/http-exchange.ts'
import { ServerDatabase } from '../conformance/server-database.ts'
import { startStore } from '../fixtures/chrome-store.ts'
import { crxOf, manifest, marker, zipOf } from '../fixtures/extensions.ts'
import { startServer } from '../fixtures/server.ts'

const owner = { after }
const store = await startStore(owner)
const server = await startServer(owner, { env: store.env })
const database = await ServerDatabase.open(owner, server)
const caller = new HttpCaller(owner, server.url)

const upload = (file: Buffer, fields: Record<string, string> = {}): Promise<Answer> =>
  caller.sendAs(server.key, { method: 'POST', path: '/extensions', ...formBody({ ...fields, file }) })

const good: EntryOptions = { name: 'manifest.json', content: manifest() }
const MB = 1024 * 1024

const refused: Record<string, { file: Buffer; why: RegExp }> = {
  'nothing at all': { file: Buffer.alloc(0), why: /not a zip archive/ },
  'no archive': { file: Buffer.from('#!/bin/sh\n'), why: /not a zip archive/ },
  'half an archive': { file: marker().subarray(0, 200), why: /not a zip archive/ },
  'data after its end': { file: Buffer.concat([marker(), Buffer.from('more')]), why: /data after its end/ },
  'a name that leaves its directory': {
    file: archiveOf([good, { name: '../x', content: 'x' }]),
    why: /leads out/,
  },
  'an absolute name': { file: archiveOf([good, { name: '/etc/x', content: 'x' }]), why: /absolute/ },
  'a name of a thousand directories': {
    file: archiveOf([good, { name: `${'d/'.repeat(1000)}x`, content: 'x' }]),
    why: /more than 64 directories deep/,
  },
  'a backslash': { file: archiveOf([good, { name: 'a\\..\\b', content: 'x' }]), why: /backslash/ },
  'a link': {
    file: archiveOf([good, { name: 'link', content: 'manifest.json', mode: 0o120777 }]),
    why: /link/,
  },
  'a device': { file: archiveOf([good, { name: 'dev', mode: 0o020666 }]), why: /device/ },
  'a name twice': { file: archiveOf([good, good]), why: /twice/ },
  'a name that differs only in case': {
    file: archiveOf([good, { name: 'MANIFEST.json', content: manifest() }]),
    why: /twice/,
  },
  'a wrong checksum': { file: archiveOf([good, { name: 'a', content: 'x', crc: 1 }]), why: /checksum/ },
  'a false size': {
    file: archiveOf([good, { name: 'a', content: 'xyz', bytes: 2 }]),
    why: /damaged|lie/,
  },
  'an encrypted entry': { file: archiveOf([good, { name: 'a', content: 'x', flags: 1 }]), why: /encrypted/ },
  'a bomb': {
    file: archiveOf([good, { name: 'a', content: Buffer.alloc(80 * MB) }]),
    why: /times as large/,
  },
  'more than fits': {
    file: archiveOf([good, { name: 'a', content: 'x', bytes: 300 * MB }]),
    why: /times as large|larger than/,
  },
  'too many files': {
    file: archiveOf([good, ...Array.from({ length: 20_000 }, (_, index) => ({ name: `f${index}` }))]),
    why: /more than 20000/,
  },
  'no manifest': { file: zipOf({ 'a.js': '' }), why: /no manifest\.json/ },
  'a manifest nested too deep': {
    file: zipOf({ 'a/b/manifest.json': manifest() }),
    why: /no manifest\.json/,
  },
  'a manifest that is not JSON': { file: zipOf({ 'manifest.json': '{' }), why: /not JSON/ },
  'a manifest that is a list': { file: zipOf({ 'manifest.json': '[]' }), why: /not a JSON object/ },
  'a manifest of 2 MB': {
    file: zipOf({ 'manifest.json': manifest({ description: 'x'.repeat(2 * MB) }) }),
    why: /too large/,
  },
  'manifest version 2': {
    file: zipOf({ 'manifest.json': manifest({ manifest_version: 2 }) }),
    why: /version 2.*no longer/,
  },
  'no manifest version': {
    file: zipOf({ 'manifest.json': '{"name":"x","version":"1"}' }),
    why: /"manifest_version": 3/,
  },
  'no name': { file: zipOf({ 'manifest.json': manifest({ name: '' }) }), why: /no "name"/ },
  'a version with words': {
    file: zipOf({ 'manifest.json': manifest({ version: 'one' }) }),
    why: /"version"/,
  },
  'a version with five parts': {
    file: zipOf({ 'manifest.json': manifest({ version: '1.2.3.4.5' }) }),
    why: /"version"/,
  },
}

const { crx } = crxOf(marker())
const changed = (at: number): Buffer => {
  const copy = Buffer.from(crx)
  copy[at]! ^= 1
  return copy
}
Object.assign(refused, {
  'a crx that was modified': { file: changed(crx.length - 40), why: /signature/ },
  'a crx with another key': { file: changed(100), why: /signature|publisher/ },
  'a truncated crx': { file: crx.subarray(0, crx.length - 30), why: /signature|zip/ },
  'a crx of version 2': {
    file: Buffer.concat([Buffer.from('Cr24\x02\0\0\0'), crx.subarray(8)]),
    why: /version 2/,
  },
  'a crx with a header longer than the file': {
    file: Buffer.concat([crx.subarray(0, 8), Buffer.from([0xff, 0xff, 0xff, 0x7f]), crx.subarray(12)]),
    why: /head/,
  },
  'a crx with random bytes as header': {
    file: Buffer.concat([Buffer.from('Cr24\x03\0\0\0\x08\0\0\0'), Buffer.alloc(8, 0xff), marker()]),
    why: /head/,
  },
})

for (const [what, { file, why }] of Object.entries(refused)) {
  test(`an extension with ${what} is refused, with the reason`, async () => {
    const before = await database.state()
    const { message } = assertError(await upload(file), 'bad_request', what)
    assert.match(message, why)
    assert.deepEqual(await database.state(), before)
  })
}

test('valid manifests are accepted', async () => {
  const commented = `\uFEFF// a comment\n${manifest({ homepage_url: 'https://x.example/*' }).replace('{', '{ /* and\n another */')}`
  for (const file of [
    zipOf({ 'manifest.json': commented }),
    zipOf({ 'folder/manifest.json': manifest(), 'folder/a.js': '1' }),
    zipOf({ 'folder/manifest.json': manifest(), '__MACOSX/folder/._manifest.json': 'x' }),
  ]) {
    assert.equal((await upload(file)).status, 201)
  }
})

const post = (exchange: object) =>
  caller.sendAs(server.key, { method: 'POST', path: '/extensions', ...exchange })

test('wrong forms and names are refused', async () => {
  const before = await database.state()
  for (const name of ['..', '.', 'a/b', '../x', 'a b', 'x'.repeat(256), 'ä', 'a\nb', 'from_chrome_store']) {
    const { message } = assertError(await upload(marker(), { name }), 'bad_request', name)
    assert.match(message, /name/)
  }
  assertError(await post(formBody({ name: 'without-a-file' })), 'bad_request')
  const twoFiles = new FormData()
  twoFiles.set('file', new Blob([new Uint8Array(marker())]), 'a.zip')
  twoFiles.set('other', new Blob(['x']), 'b.zip')
  assert.equal((await server.fetch('/extensions', { method: 'POST', body: twoFiles })).status, 400)
  assertError(await post({}), 'bad_request')
  const { body } = formBody({ file: marker() })
  assertError(await post({ body }), 'bad_request')
  assertError(
    await post({ headers: [['Content-Type', 'application/json']], body: '{"file":"x"}' }),
    'bad_request',
  )
  const { headers } = formBody({})
  assertError(await post({ headers, body: (body as Buffer).subarray(0, 150) }), 'bad_request')
  assert.deepEqual(await database.state(), before)
})

test('more than 100 MB is refused, and nothing of it is stored', async () => {
  const before = await database.state()
  assertError(await upload(Buffer.alloc(101 * MB)), 'payload_too_large')
  assert.deepEqual(await database.state(), before)
  assert.deepEqual(readdirSync(join(server.dataDir, 'uploads')), [])
})

test('parallel uploads of one name create one extension', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => upload(marker(), { name: 'wanted' })))
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
  assert.deepEqual(statuses, [201, ...Array.from({ length: 7 }, () => 409)])
  const [row] = await database.run(`SELECT count(*)::int AS count FROM blobs WHERE kind = 'extension'`)
  const [rows] = await database.run('SELECT count(*)::int AS count FROM extensions WHERE deleted_at IS NULL')
  assert.deepEqual(row, rows)
})

const fromStore = (url: string) =>
  caller.sendAs(server.key, {
    method: 'GET',
    path: `/extensions/from_chrome_store?url=${encodeURIComponent(url)}`,
  })

test('only the address of the store is ever asked for an extension', async () => {
  const id = 'a'.repeat(32)
  for (const url of [
    `http://chromewebstore.google.com/detail/x/${id}`,
    `https://chromewebstore.google.com.example.com/detail/x/${id}`,
    `https://example.com/detail/x/${id}`,
    `https://user@127.0.0.1/detail/x/${id}`,
    `file:///etc/${id}`,
    'https://chromewebstore.google.com/detail/x/ABCDEFGHIJKLMNOPABCDEFGHIJKLMNOP',
    `${id}q`,
    ' ',
  ]) {
    assertError(await fromStore(url), 'bad_request', url)
  }
})

test('a store that misbehaves causes a clear error', async (t) => {
  t.after(() => (store.misbehave = undefined))
  const canary = store.port
  const cases: [string, typeof store.misbehave, RegExp][] = [
    ['an error', (response) => response.writeHead(500).end(), /answered 500/],
    ['no answer', (response) => response.destroy(), /connection failed/],
    ['a redirect loop', (response) => response.writeHead(302, { location: '/again' }).end(), /more than 5/],
    [
      'a redirect to the host',
      (response) => response.writeHead(302, { location: `http://127.0.0.1:${canary}/crx` }).end(),
      /not public/,
    ],
    [
      'a redirect to metadata',
      (response) => response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end(),
      /not public/,
    ],
    [
      'a redirect to a file',
      (response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
      /web address/,
    ],
  ]
  for (const [what, misbehave, why] of cases) {
    store.misbehave = misbehave
    const { message } = assertError(await fromStore(store.id), 'store_unreachable', what)
    assert.match(message, why, what)
  }
  store.misbehave = (response) => response.end('not a crx')
  assertError(await fromStore(store.id), 'bad_request')
  store.misbehave = undefined
  assert.equal((await fromStore(store.id)).status, 200)
})
