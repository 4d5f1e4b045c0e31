import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileName } from './upload.ts'

test('fileName removes directories and invisible characters', () => {
  assert.equal(fileName('report.pdf'), 'report.pdf')
  assert.equal(fileName('../../etc/passwd'), '.._.._etc_passwd')
  assert.equal(fileName('C:\\evil\\a.txt'), 'C:_evil_a.txt')
  assert.equal(fileName('a\0b\nc\u202e.txt'), 'abc.txt')
  for (const empty of ['', '.', '..', ' ', '\0']) assert.equal(fileName(empty), 'file')
  assert.ok(Buffer.byteLength(fileName('漢'.repeat(300))) <= 200)
})
