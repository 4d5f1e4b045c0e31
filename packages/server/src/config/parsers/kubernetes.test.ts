import assert from 'node:assert/strict'
import { test } from 'node:test'
import { labelValues, tolerationList } from './kubernetes.ts'

test('labels of nodes are read, and a wrong one is named', () => {
  assert.deepEqual(labelValues(''), {})
  assert.deepEqual(labelValues('berth=yes, example.com/zone='), { berth: 'yes', 'example.com/zone': '' })
  assert.throws(() => labelValues('berth'), /label=value, but has "berth"/)
})

test('tolerations are read as in a Pod, and a wrong one is named', () => {
  assert.deepEqual(tolerationList(''), [])
  const wanted = [{ key: 'browsers', operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 5 }]
  assert.deepEqual(tolerationList(JSON.stringify(wanted)), wanted)
  for (const wrong of [
    '{',
    '{}',
    '[1]',
    '[{"key":1}]',
    '[{"colour":"red"}]',
    '[{"tolerationSeconds":"5"}]',
  ]) {
    assert.throws(() => tolerationList(wrong), /must (be a JSON list|list objects)/, wrong)
  }
})
