import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mayReadNamespaces } from './network-maker.ts'

const status = (effective: string) =>
  `Name:\tnode\nCapPrm:\t${effective}\nCapEff:\t${effective}\nCapBnd:\t0\n`

test('root may read the namespaces of instances, unless its container lacks the capability', () => {
  assert.equal(mayReadNamespaces(status('000001ffffffffff')), true)
  // Docker's usual ones.
  assert.equal(mayReadNamespaces(status('00000000a80425fb')), false)
  assert.equal(mayReadNamespaces(status('00000000a80c25fb')), true)
  assert.equal(mayReadNamespaces(''), false)
})
