import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openApiDocument } from '@berth/contracts/openapi'
import { pathsOf } from '@berth/contracts/operation'
import { operations } from '@berth/contracts/operations'
import { compileValidator } from './validation.ts'

interface Described {
  readonly requestBody: { readonly content: Record<string, { readonly example: unknown }> }
}

const { paths } = openApiDocument(operations) as { paths: Record<string, Record<string, Described>> }

test('the example body of every operation is one the operation accepts', () => {
  for (const row of operations) {
    if (!row.body) continue
    for (const path of pathsOf(row)) {
      const { requestBody } = paths[path]![row.method.toLowerCase()]!
      const { example } = requestBody.content['application/json']!
      assert.ok(example, `${row.id} at ${path} has an example`)
      const validate = compileValidator({ schema: row.body, method: row.method, url: path, httpPart: 'body' })
      assert.equal(validate(example), true, `${row.id} accepts ${JSON.stringify(example)}`)
    }
  }
})
