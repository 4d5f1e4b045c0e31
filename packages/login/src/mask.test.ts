import assert from 'node:assert/strict'
import test from 'node:test'
import { mask } from './mask.ts'

test('what the website repeats of ours is masked, in whatever case', () => {
  const values = ['ada@example.com', 'S3cret (very)+']
  assert.equal(mask('No account for ADA@example.com', values), 'No account for •••')
  assert.equal(mask('Wrong: S3cret (very)+!', values), 'Wrong: •••!')
  assert.equal(mask('Nothing of ours', values), 'Nothing of ours')
})

test('a value within another does not leave the rest of it', () => {
  assert.equal(mask('password-2 was wrong', ['password', 'password-2']), '••• was wrong')
})
