import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { DATABASE_TYPES, generateDatabaseTypes } from '../../scripts/lib/database-types.ts'

test('the types of the tables match the migrations', async () => {
  const checkedIn = readFileSync(join(import.meta.dirname, '../..', DATABASE_TYPES), 'utf8')
  assert.equal(await generateDatabaseTypes(), checkedIn, 'run npm run generate and commit the result')
})
