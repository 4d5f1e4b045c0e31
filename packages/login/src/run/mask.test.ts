import assert from 'node:assert/strict'
import test from 'node:test'
import { mask } from './mask.ts'

test('mask hides our values in text of the website, in upper and lower case', () => {
  const values = ['ada@example.com', 'S3cret (very)+']
  assert.equal(mask('No account for ADA@example.com', values), 'No account for •••')
  assert.equal(mask('Wrong: S3cret (very)+!', values), 'Wrong: •••!')
  assert.equal(mask('Nothing of ours', values), 'Nothing of ours')
})

test('mask hides the longest value first, so that no part of it remains', () => {
  assert.equal(mask('password-2 was wrong', ['password', 'password-2']), '••• was wrong')
})
