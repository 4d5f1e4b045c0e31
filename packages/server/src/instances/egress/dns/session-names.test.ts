import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { startDnsServer, type DnsServerOptions } from '../../../../../../tests/fixtures/dns-server.ts'
import {
  echo,
  openSocket,
  openTunnel,
  startProxy,
  startServer,
} from '../../../../../../tests/fixtures/egress.ts'
import { SessionNames } from './session-names.ts'
import { SystemNames } from './system-names.ts'

async function start(
  t: TestContext,
  { hosts = '', resolv = '', ...dns }: DnsServerOptions & { hosts?: string; resolv?: string },
) {
  const directory = mkdtempSync(join(tmpdir(), 'names-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const [hostsFile, resolvFile] = [join(directory, 'hosts'), join(directory, 'resolv.conf')]
  writeFileSync(hostsFile, hosts)
  writeFileSync(resolvFile, resolv)
  const server = await startDnsServer(t, dns)
  const system = new SystemNames({ servers: [server.address], hostsFile, resolvFile })
  const names = new SessionNames(system)
  t.after(() => names.close())
  return { server, system, names }
}

test('asks the hosts file, then its cache, then the DNS servers', async (t) => {
  const { server, names } = await start(t, {
    hosts: '10.0.0.9 db.example',
    names: { 'a.example': ['192.0.2.1', '192.0.2.2'] },
  })
  assert.deepEqual(await names.lookup('db.example'), ['10.0.0.9'])
  for (let count = 0; count < 3; count++) {
    assert.deepEqual((await names.lookup('a.example')).toSorted(), ['192.0.2.1', '192.0.2.2'])
  }
  assert.deepEqual(server.asked, ['a.example'])
})

test('one session learns nothing from the cache of another', async (t) => {
  const { server, system, names } = await start(t, { names: { 'a.example': ['192.0.2.1'] } })
  const other = new SessionNames(system)
  await names.lookup('a.example')
  await other.lookup('a.example')
  assert.deepEqual(server.asked, ['a.example', 'a.example'])
})

test('goes through the search list until a name exists', async (t) => {
  const { server, names } = await start(t, {
    resolv: 'search one.example two.example',
    names: {
      'db.one.example': [],
      'db.two.example': ['192.0.2.7'],
      'x.y': [],
      'x.y.one.example': [],
      'x.y.two.example': [],
    },
  })
  assert.deepEqual(await names.lookup('db'), ['192.0.2.7'])
  await assert.rejects(names.lookup('x.y'), { code: 'ENOTFOUND' })
  assert.deepEqual(server.asked, [
    'db.one.example',
    'db.two.example',
    'x.y',
    'x.y.one.example',
    'x.y.two.example',
  ])
})

test('ends its look-ups when the session ends', async (t) => {
  const { names } = await start(t, { names: {} })
  const attempt = names.lookup('silent.example')
  names.close()
  await assert.rejects(attempt)
  await assert.rejects(names.lookup('other.example'))
})

test('250 names that never answer delay no other session', async (t) => {
  const target = await startServer(t, echo)
  const { address } = await startDnsServer(t, { names: { 'known.example': ['127.0.0.1'] } })
  const direct = { names: new SystemNames({ servers: [address] }) }
  const allow = [`known.example:${target.port}`]
  const hostile = await startProxy(t, { direct })
  const other = await startProxy(t, { allow, direct })
  const sockets = await Promise.all(Array.from({ length: 250 }, () => openSocket(t, hostile.path)))
  let answered = 0
  for (const [index, socket] of sockets.entries()) {
    const authority = `silent-${index}.example:443`
    socket.on('data', () => answered++)
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`)
  }
  const { status } = await openTunnel(t, other.path, `known.example:${target.port}`)
  assert.equal(status, 200)
  // On the threads that all sessions share, the other one had to wait until some of these had timed out.
  assert.equal(answered, 0, 'the other session had to wait')
})
