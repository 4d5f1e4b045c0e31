import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StandIns } from './stand-ins.ts'

test('a name keeps its address, and the address leads back to the name', () => {
  const standIns = new StandIns()
  assert.equal(standIns.addressOf('a.example'), '240.0.0.1')
  assert.equal(standIns.addressOf('b.example'), '240.0.0.2')
  assert.equal(standIns.addressOf('a.example'), '240.0.0.1')
  assert.equal(standIns.nameOf('240.0.0.2'), 'b.example')
  assert.equal(standIns.nameOf('240.0.0.3'), undefined)
  assert.ok(standIns.isStandIn('240.9.9.9'))
  assert.ok(!standIns.isStandIn('24.0.0.1'))
})

test('of too many names, the one that was asked for least lately is forgotten', () => {
  const standIns = new StandIns()
  const first = standIns.addressOf('first.example')
  const second = standIns.addressOf('second.example')
  for (let count = 2; count < 65_536; count++) standIns.addressOf(`${count}.example`)
  standIns.addressOf('first.example')
  assert.equal(standIns.addressOf('last.example'), '240.1.0.1')
  assert.equal(standIns.nameOf(first), 'first.example')
  assert.equal(standIns.nameOf(second), undefined)
})
