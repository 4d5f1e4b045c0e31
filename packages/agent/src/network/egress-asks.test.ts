import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { EgressAsks } from './egress-asks.ts'

test('a question waits for a server that is away, and for the next one after a kill', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'berth-asks-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const socketPath = join(directory, 'egress.sock')
  const asks = new EgressAsks(socketPath)
  const early = asks.addressesOf('a.example')
  const asked: string[] = []
  const serve = async (isDying: boolean) => {
    const server = createServer((request, response) => {
      asked.push(request.url!)
      if (isDying) request.socket.destroy()
      else response.end(JSON.stringify({ exists: true, addresses: ['1.2.3.4'], fate: 'accept' }))
    }).listen(socketPath)
    await once(server, 'listening')
    t.after(() => server.close())
    return server
  }
  const first = await serve(true)
  while (asked.length === 0) await once(first, 'request')
  first.close()
  await once(first, 'close')
  await serve(false)
  assert.deepEqual(await early, ['1.2.3.4'])
  assert.equal(asked.length >= 2, true)
  assert.equal(await asks.fateOf({ host: 'a.example', port: 80, address: '240.0.0.1' }), 'accept')
  assert.equal(
    asked.at(-1),
    'http://egress.berth.internal/connections/a.example%3A80?to=240.0.0.1',
    'named as egress reads it',
  )
})

test('a question is asked again while egress is busy, and not after another refusal', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'berth-asks-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const socketPath = join(directory, 'egress.sock')
  const statuses = [503, 503, 200, 400]
  const server = createServer((_request, response) => {
    response.writeHead(statuses.shift()!).end(JSON.stringify({ exists: true, addresses: ['1.2.3.4'] }))
  }).listen(socketPath)
  await once(server, 'listening')
  t.after(() => server.close())
  const asks = new EgressAsks(socketPath)
  assert.deepEqual(await asks.addressesOf('a.example'), ['1.2.3.4'])
  await assert.rejects(asks.addressesOf('a.example'), /400/)
  assert.deepEqual(statuses, [])
})

test('an answer that is not one rejects at once', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'berth-asks-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const socketPath = join(directory, 'egress.sock')
  const server = createServer((_request, response) => response.end('not JSON')).listen(socketPath)
  await once(server, 'listening')
  t.after(() => server.close())
  await assert.rejects(new EgressAsks(socketPath).addressesOf('a.example'), /JSON/)
})

test('a question about a failure is asked once', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'berth-asks-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const socketPath = join(directory, 'egress.sock')
  const asks = new EgressAsks(socketPath)
  await assert.rejects(asks.failureOf({ host: 'a.example', port: 443 }), { code: 'ENOENT' })
  const asked: string[] = []
  const failures = [{ code: 'proxy_unavailable', status: 502 }, undefined]
  const server = createServer((request, response) => {
    asked.push(request.url!)
    response.end(JSON.stringify({ failure: failures.shift() }))
  }).listen(socketPath)
  await once(server, 'listening')
  t.after(() => server.close())
  assert.deepEqual(await asks.failureOf({ host: '[fd00::1]', port: 443 }), {
    code: 'proxy_unavailable',
    status: 502,
  })
  assert.equal(await asks.failureOf({ host: 'a.example', port: 80 }), undefined)
  assert.equal(asked[0], 'http://egress.berth.internal/failures/%5Bfd00%3A%3A1%5D%3A443')
})
