// The project header: which values are found, which are refused, and that a refusal comes first.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ErrorCode } from '@berth/contracts/errors'
import { isOpen, pathsOf } from '@berth/contracts/operation'
import { operations } from '@berth/contracts/operations'
import { sharedServer } from '../fixtures/shared-server.ts'
import { assertError } from './error-answer.ts'
import { newProject, newTenant } from './fixture-keys.ts'
import { HttpCaller } from './http-exchange.ts'
import { newResources } from './resources.ts'
import { sampleRequest } from './sample-request.ts'
import { ServerDatabase } from './server-database.ts'

const owner = { after }
const server = await sharedServer(owner)
const database = await ServerDatabase.open(owner, server)
const caller = new HttpCaller(owner, server.url)
const mine = await newTenant(caller, server.key, 'Mine by header')
const theirs = await newTenant(caller, server.key, 'Theirs by header')
const resources = await newResources(caller, mine.key.key, server.key)
const greek = await newProject(caller, server.key, 'Έργο \u{1f6a2}')
const longest = await newProject(caller, server.key, '\u{1f6a2}'.repeat(255))
const archived = await newTenant(caller, server.key, 'Archived')
await caller.sendJson(server.key, 'PATCH', `/org/projects/${archived.project.id}`, { status: 'archived' })
const deleted = await newProject(caller, server.key, 'Deleted')
await caller.sendJson(server.key, 'DELETE', `/org/projects/${deleted.id}`)

const ID = 'X-Kernel-Project-Id'
const NAME = 'X-Kernel-Project'
const utf8 = (text: string) => Buffer.from(text).toString('latin1')
type Case = [what: string, key: string, headers: [string, string][], expected: ErrorCode | 200]

const cases: Case[] = [
  ['an id', server.key, [[ID, theirs.project.id]], 200],
  ['an id under the other name', server.key, [[NAME, theirs.project.id]], 200],
  ['a name', server.key, [[NAME, theirs.project.name]], 200],
  ['a name in UTF-8', server.key, [[NAME, utf8(greek.name)]], 200],
  ['the longest name there can be', server.key, [[NAME, utf8(longest.name)]], 200],
  ['header names in lower case', server.key, [['x-kernel-project', theirs.project.name]], 200],
  [
    'both headers, the same',
    server.key,
    [
      [ID, mine.project.id],
      [NAME, mine.project.id],
    ],
    200,
  ],
  [
    'both headers, the id and the name of the same',
    server.key,
    [
      [ID, greek.id],
      [NAME, utf8(greek.name)],
    ],
    200,
  ],
  ['an empty header', server.key, [[ID, '']], 200],
  ['a name where an id belongs', server.key, [[ID, theirs.project.name]], 'project_not_found'],
  ['a name in another case', server.key, [[NAME, 'theirs']], 'project_not_found'],
  ['an unknown id', server.key, [[ID, `proj_${'a'.repeat(24)}`]], 'project_not_found'],
  ['an unknown name', server.key, [[NAME, 'Nobody']], 'project_not_found'],
  ['the id of a key', server.key, [[ID, mine.key.id]], 'project_not_found'],
  ['an archived project by id', server.key, [[ID, archived.project.id]], 'project_not_found'],
  ['an archived project by name', server.key, [[NAME, archived.project.name]], 'project_not_found'],
  ['a deleted project', server.key, [[ID, deleted.id]], 'project_not_found'],
  ['a deleted project by name', server.key, [[NAME, deleted.name]], 'project_not_found'],
  ['4 KB', server.key, [[ID, 'x'.repeat(4096)]], 'project_not_found'],
  ['an SQL string', server.key, [[NAME, `' OR '1'='1`]], 'project_not_found'],
  ['a pattern', server.key, [[NAME, '%']], 'project_not_found'],
  ['bytes that are no text', server.key, [[NAME, '\u{ff}\u{fe}']], 'project_not_found'],
  ['a control character', server.key, [[NAME, utf8('\u{85}')]], 'project_not_found'],
  [
    'one header twice',
    server.key,
    [
      [ID, mine.project.id],
      [ID, mine.project.id],
    ],
    'project_not_found',
  ],
  [
    'two different projects',
    server.key,
    [
      [ID, mine.project.id],
      [NAME, theirs.project.id],
    ],
    'bad_request',
  ],
  [
    'one project and an unknown name',
    server.key,
    [
      [ID, mine.project.id],
      [NAME, 'Nobody'],
    ],
    'project_not_found',
  ],
  [
    'its own id and name, to a project key',
    mine.key.key,
    [
      [ID, mine.project.id],
      [NAME, mine.project.name],
    ],
    200,
  ],
  [
    'its own id and another name, to a project key',
    mine.key.key,
    [
      [ID, mine.project.id],
      [NAME, theirs.project.name],
    ],
    'forbidden',
  ],
  ['its own project, to a project key', mine.key.key, [[ID, mine.project.id]], 200],
  ['its own name, to a project key', mine.key.key, [[NAME, mine.project.name]], 200],
  ['another project, to a project key', mine.key.key, [[ID, theirs.project.id]], 'forbidden'],
  ['another name, to a project key', mine.key.key, [[NAME, theirs.project.name]], 'forbidden'],
  ['an archived one, to a project key', mine.key.key, [[ID, archived.project.id]], 'forbidden'],
  ['an unknown one, to a project key', mine.key.key, [[ID, `proj_${'a'.repeat(24)}`]], 'forbidden'],
  ['nothing, to a key of an archived project', archived.key.key, [], 'project_not_found'],
  [
    'its own, to a key of an archived project',
    archived.key.key,
    [[ID, archived.project.id]],
    'project_not_found',
  ],
]

for (const [what, key, headers, expected] of cases) {
  test(`a project header with ${what} is answered with ${expected}`, async () => {
    const answer = await caller.sendAs(key, { method: 'GET', path: '/org/limits', headers })
    if (expected === 200) assert.equal(answer.status, 200, answer.text)
    else assertError(answer, expected)
  })
}

test('a project key gets the same answer for another project and a missing one', async () => {
  const refusals = await Promise.all(
    [theirs.project.id, archived.project.id, deleted.id, `proj_${'a'.repeat(24)}`].map((id) =>
      caller.sendAs(mine.key.key, { method: 'GET', path: '/org/limits', headers: [[ID, id]] }),
    ),
  )
  assert.equal(new Set(refusals.map(({ text }) => text)).size, 1)
})

const guarded = operations.filter((operation) => !isOpen(operation))
const references = {
  projects: mine.project.id,
  api_keys: mine.key.id,
  ...resources,
}

for (const operation of guarded) {
  for (const path of pathsOf(operation)) {
    test(`${operation.method} ${path} checks the project header before it does anything`, async () => {
      const before = await database.state()
      const exchange = sampleRequest(operation, path, references)
      const send = (key: string, ...header: [name: string, value: string]) =>
        caller.sendAs(key, { ...exchange, headers: [...(exchange.headers ?? []), header] })
      assertError(await send(server.key, ID, 'nowhere'), 'project_not_found')
      assertError(await send(mine.key.key, ID, theirs.project.id), 'forbidden')
      assertError(await send(archived.key.key, NAME, mine.project.name), 'project_not_found')
      assert.deepEqual(await database.state(), before)
    })
  }
}
