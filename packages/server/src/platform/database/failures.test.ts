import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { test } from 'node:test'
import { databaseFailure } from './failures.ts'

test('a socket that is not there is a database that cannot be reached, and a file is not', async () => {
  const refused = await new Promise<Error>((resolve) => connect('/nothing/here').once('error', resolve))
  assert.equal(databaseFailure(refused), 'unavailable')
  const missing = await stat('/nothing/here').catch((error: unknown) => error)
  assert.equal(databaseFailure(missing), undefined)
})
