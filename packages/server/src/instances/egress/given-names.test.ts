import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GivenNames } from './given-names.ts'

test('an address stands for the name that got it last, for as long as programs keep it', () => {
  let now = 0
  const names = new GivenNames(() => now)
  names.remember('a.example', ['1.2.3.4', '1.2.3.5'])
  names.remember('b.example', ['1.2.3.5'])
  assert.equal(names.nameOf('1.2.3.4'), 'a.example')
  assert.equal(names.nameOf('1.2.3.5'), 'b.example')
  assert.equal(names.nameOf('1.2.3.6'), undefined)
  now = 119_000
  assert.equal(names.nameOf('1.2.3.4'), 'a.example')
  names.remember('a.example', ['1.2.3.4'])
  now = 121_000
  assert.equal(names.nameOf('1.2.3.4'), 'a.example')
  assert.equal(names.nameOf('1.2.3.5'), undefined)
})

test('the oldest addresses are forgotten beyond the limit', () => {
  const names = new GivenNames()
  for (let at = 0; at < 4_097; at++) names.remember('a.example', [`1.2.${at >> 8}.${at & 255}`])
  assert.equal(names.nameOf('1.2.0.0'), undefined)
  assert.equal(names.nameOf('1.2.0.1'), 'a.example')
})
