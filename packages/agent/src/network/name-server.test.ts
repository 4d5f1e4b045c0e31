import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { test, type TestContext } from 'node:test'
import { startNameServer } from './name-server.ts'
import { StandIns } from './stand-ins.ts'

async function start(t: TestContext, addressesOf: (name: string) => Promise<string[] | undefined>) {
  const server = await startNameServer({ port: 0, standIns: new StandIns(), addressesOf })
  t.after(() => server.close())
  const { port } = server.address()
  const resolver = new Resolver({ timeout: 2_000, tries: 1 })
  resolver.setServers([`127.0.0.1:${port}`])
  return { port, resolver }
}

test('a name that exists has IPv4 addresses and nothing else: its own, or a stand-in', async (t) => {
  const own = ['1.2.3.4', '1.2.3.5']
  const { resolver } = await start(t, async (name) => (name === 'own.example' ? own : []))
  assert.deepEqual((await resolver.resolve4('own.example')).toSorted(), own)
  assert.deepEqual(await resolver.resolve4('A.Example'), ['240.0.0.1'])
  assert.deepEqual(await resolver.resolve4('a.example'), ['240.0.0.1'])
  await assert.rejects(resolver.resolve6('a.example'), { code: 'ENODATA' })
  await assert.rejects(resolver.resolveMx('a.example'), { code: 'ENODATA' })
})

test('an answer has as many addresses as fit', async (t) => {
  const own = Array.from({ length: 16 }, (_, at) => `1.2.3.${at}`)
  const { resolver } = await start(t, async () => own)
  const found = await resolver.resolve4(`${'a'.repeat(40)}.example`)
  assert.ok(found.length >= 6 && found.length < 16, String(found.length))
  assert.equal((await resolver.resolve4('a.example')).length, 16)
})

test('a name that does not exist has none', async (t) => {
  const asked: string[] = []
  const { resolver } = await start(t, async (name) => {
    asked.push(name)
    return undefined
  })
  await assert.rejects(resolver.resolve4('No.Example'), { code: 'ENOTFOUND' })
  assert.deepEqual(asked, ['no.example'])
})

test('what is not a query gets no answer, and the next one does', async (t) => {
  const { port, resolver } = await start(t, async (name) => {
    if (name === 'broken.example') throw new Error('egress is closed')
    return []
  })
  const sender = createSocket('udp4')
  t.after(() => sender.close())
  const answers: Buffer[] = []
  sender.on('message', (answer) => answers.push(answer))
  for (const bytes of [
    Buffer.alloc(1),
    Buffer.alloc(12),
    Buffer.alloc(600, 0xff),
    Buffer.from('0'.repeat(40)),
  ]) {
    sender.send(bytes, port, '127.0.0.1')
  }
  await assert.rejects(resolver.resolve4('broken.example'), { code: 'ETIMEOUT' })
  assert.deepEqual(await resolver.resolve4('a.example'), ['240.0.0.1'])
  assert.deepEqual(answers, [])
})
