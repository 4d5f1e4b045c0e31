import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { connectionQueue, type ConnectionFate } from '@berth/contracts/link'
import { acceptPacket, dropPacket, type QueuedPacket } from '@berth/codecs/netlink/packet-queue'
import { PendingConnections } from './pending-connections.ts'

const { number, refuse, unreachable } = connectionQueue
const accept = (id: number, mark?: number) => acceptPacket(number, id, mark).toString('hex')
const drop = (id: number) => dropPacket(number, id).toString('hex')

function start(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const sent: string[] = []
  const decisions: PromiseWithResolvers<ConnectionFate>[] = []
  const pending = new PendingConnections({
    decide: () => {
      const decision = Promise.withResolvers<ConnectionFate>()
      decisions.push(decision)
      return decision.promise
    },
    send: (verdict) => void sent.push(verdict.toString('hex')),
  })
  let lastId = 0
  const take = (packet: Partial<QueuedPacket> = {}): number => {
    pending.take({ id: ++lastId, sourcePort: 40_000, address: '1.2.3.4', port: 443, ...packet })
    return lastId
  }
  /** The decision about the connection that was begun last, and the verdicts it causes. */
  const decide = async (fate: ConnectionFate | Error): Promise<string[]> => {
    sent.length = 0
    if (fate instanceof Error) decisions.at(-1)!.reject(fate)
    else decisions.at(-1)!.resolve(fate)
    await new Promise((resolve) => setImmediate(resolve))
    return [...sent]
  }
  return { take, decide, sent, decisions }
}

test('each decision becomes a verdict on the first packet, and repeated ones are dropped', async (t) => {
  const { take, decide, sent, decisions } = start(t)
  const first = take()
  const again = [take(), take()]
  assert.equal(decisions.length, 1)
  assert.deepEqual(sent, [])
  assert.deepEqual(await decide('accept'), [...again.map(drop), accept(first)])
  const refused = take()
  assert.deepEqual(await decide('refuse'), [accept(refused, refuse)])
  const lost = take()
  assert.deepEqual(await decide('unreachable'), [accept(lost, unreachable)])
  assert.equal(decisions.length, 3)
})

test('one that is ignored is dropped without asking, for a minute; one without a decision is asked about again', async (t) => {
  const { take, decide, sent, decisions } = start(t)
  const first = take()
  assert.deepEqual(await decide('ignore'), [drop(first)])
  const second = take()
  assert.deepEqual(sent, [drop(first), drop(second)])
  assert.equal(decisions.length, 1)
  take({ sourcePort: 40_001 })
  assert.equal(decisions.length, 2, 'another connection to the same target')
  t.mock.timers.tick(60_000)
  const third = take()
  assert.equal(decisions.length, 3)
  assert.deepEqual(await decide(new Error('no server')), [drop(third)])
  take()
  assert.equal(decisions.length, 4)
})

test('what is not TCP, and what is too much, is dropped at once', (t) => {
  const { take, sent, decisions } = start(t)
  assert.deepEqual([drop(take({ address: '' })), decisions.length], [sent[0], 0])
  for (let at = 0; at < 8_192; at++) take({ sourcePort: at })
  assert.equal(decisions.length, 8_192)
  const last = take({ sourcePort: 50_000 })
  assert.deepEqual([decisions.length, sent.at(-1)], [8_192, drop(last)])
})
