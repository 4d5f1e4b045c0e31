// Every path of a session takes its name as well as its id, on the server that runs the session and on another one of
// the deployment. Instances are fake.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { pathsOf } from '@berth/contracts/operation'
import { operations } from '@berth/contracts/operations'
import { HttpCaller } from '../conformance/http-exchange.ts'
import { newBrowser } from '../conformance/resources.ts'
import { sampleRequest } from '../conformance/sample-request.ts'
import { newDatabase } from '../fixtures/shared-postgres.ts'
import { startServer } from '../fixtures/server.ts'

const owner = { after }
const { url } = await newDatabase(owner)
const key = 'sk_sessionnames_abcdefghijklmnopqrstuvwxyz012345'
const env = {
  DATABASE_URL: url,
  BERTH_MASTER_KEY: Buffer.alloc(32, 5).toString('base64'),
  BERTH_API_KEY: key,
}
const one = await startServer(owner, { env })
const other = await startServer(owner, { env })
const runsIt = new HttpCaller(owner, one.url)
const callers = { 'the server that runs it': runsIt, 'another server': new HttpCaller(owner, other.url) }

const rows = operations.flatMap((operation) =>
  pathsOf(operation)
    .filter((path) => path.startsWith('/browsers/{'))
    .map((path) => ({ operation, path })),
)

test('there are many such paths', () => assert.ok(rows.length > 45, `${rows.length}`))

let count = 0
for (const { operation, path } of rows) {
  for (const [where, caller] of Object.entries(callers)) {
    test(`${operation.method} ${path} takes a name, at ${where}`, async () => {
      const name = `named-${count++}`
      const id = await newBrowser(runsIt, key, { name })
      // The change of the sample would rename it, and the next one would then have a taken name.
      const isRenamed = operation.id === 'updateBrowser'
      const ask = (reference: string) => {
        const exchange = sampleRequest(operation, path, { browsers: reference })
        return caller.sendAs(key, isRenamed ? { ...exchange, body: '{"tags":{"a":"b"}}' } : exchange)
      }
      const byName = await ask(name)
      const byId = await ask(id)
      assert.equal(byName.status, byId.status, byName.text)
      // Some say that another thing is missing, but never the session.
      assert.doesNotMatch(byName.text, /browser session/)
      assert.notEqual(byName.status, 503, byName.text)
      await runsIt.sendJson(key, 'DELETE', `/browsers/${id}`)
    })
  }
}
