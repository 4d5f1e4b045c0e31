import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { errorCatalogue, errorCodes } from '@berth/contracts/errors'
import { openApiDocument } from '@berth/contracts/openapi'
import { operation, pathsOf, type Operation } from '@berth/contracts/operation'
import { operations } from '@berth/contracts/operations'
import { compileValidator } from '../validation.ts'
import { docsPage } from './page.ts'

const page = docsPage(operations)

function textOf(html: string): string {
  const entities: Record<string, string> = { quot: '"', '#39': "'", lt: '<', gt: '>', amp: '&' }
  return html
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(quot|#39|lt|gt|amp);/g, (_, name: string) => entities[name]!)
}

function sectionOf(id: string): string {
  const section = new RegExp(`<section class="entry[^"]*" id="${id}">(.*?)</section>`, 's').exec(page)
  assert.ok(section, `there is no section "${id}"`)
  return section[1]!
}

function matchesOf(pattern: RegExp): string[] {
  return [...page.matchAll(pattern)].map(([, found]) => found!)
}

test('every operation has a section with its method, all its paths and its fields', () => {
  for (const row of operations) {
    const text = textOf(sectionOf(row.id))
    assert.ok(text.includes(row.method) && text.includes(row.id), row.id)
    for (const path of pathsOf(row)) assert.ok(text.includes(path), `${row.id} shows ${path}`)
    for (const part of [row.params, row.query, row.body]) {
      for (const name of Object.keys(part?.properties ?? {})) assert.ok(text.includes(name), name)
    }
  }
})

test('every error code is in the catalogue with its status and meaning', () => {
  for (const code of errorCodes) {
    const row = new RegExp(`<tr id="error-${code}">(.*?)</tr>`, 's').exec(page)?.[1]
    assert.ok(row, code)
    assert.ok(row.includes(String(errorCatalogue[code].status)) && row.includes(code), code)
    assert.ok(textOf(row).includes(errorCatalogue[code].meaning.replaceAll('`', '')), code)
  }
})

test('every named schema has a section with its fields', () => {
  const { schemas } = openApiDocument(operations)['components'] as {
    schemas: Record<string, { properties: object }>
  }
  for (const [name, { properties }] of Object.entries(schemas)) {
    const text = textOf(sectionOf(`schema-${name}`))
    for (const field of Object.keys(properties)) assert.ok(text.includes(field), `${name}.${field}`)
  }
})

test('every link within the page has a target, and no two elements share an id', () => {
  const ids = matchesOf(/ id="([^"]+)"/g)
  assert.equal(new Set(ids).size, ids.length)
  // "closed" is nowhere on purpose: going there closes the menu and moves nothing.
  const known = new Set([...ids, 'closed'])
  const dangling = matchesOf(/href="#([^"]*)"/g).filter((id) => !known.has(id))
  assert.deepEqual(dangling, [])
})

test('nothing runs and nothing loads', () => {
  assert.doesNotMatch(page, /<(script|link|img|iframe|object|embed|base|form|video|audio|source)\b/i)
  assert.doesNotMatch(page, /\s(src|srcset|style|on\w+)\s*=/i)
  assert.doesNotMatch(page, /@import|url\(/i)
  const outside = matchesOf(/href="([^#"][^"]*)"/g)
  assert.deepEqual([...new Set(outside)], ['/openapi.json'])
})

test('text of the contract cannot become markup', () => {
  const evil = `<script>alert("x")</script>'&`
  const field = Type.Unsafe<string>({ type: 'string', enum: [evil], description: evil, default: evil })
  const row: Operation = operation({
    id: 'evil',
    tag: evil,
    summary: evil,
    method: 'POST',
    path: `/evil/${evil}`,
    aliases: [`/other/${evil}`],
    params: Type.Object({ id: field }),
    query: Type.Object({ [evil]: field }),
    body: Type.Object({ [evil]: field }),
    status: 200,
    response: Type.Object({ [evil]: field }, { title: evil, description: evil }),
  })
  const hostile = docsPage([row])
  assert.doesNotMatch(hostile, /<script/i)
  assert.ok(hostile.includes('&lt;script&gt;'))
})

test('the body of every example is one the operation accepts', () => {
  for (const row of operations) {
    if (!row.body) continue
    const body = /-d '(.*)'/.exec(textOf(sectionOf(row.id)))?.[1]
    assert.ok(body, `${row.id} shows a body`)
    const validate = compileValidator({
      schema: row.body,
      method: row.method,
      url: row.path,
      httpPart: 'body',
    })
    assert.equal(validate(JSON.parse(body)), true, `${row.id} accepts ${body}`)
  }
})
