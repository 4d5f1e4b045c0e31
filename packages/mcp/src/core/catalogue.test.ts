import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expandScopes, scopes } from '@berth/contracts/scopes'
import { tools } from '../tools/tools.ts'
import { listed, offeredTools, toolsetsIn, UnknownToolset } from './catalogue.ts'
import { isMany, toolsets } from './tool.ts'

const everybody = { scopes: undefined, projectId: null }
const all = toolsetsIn(undefined)

const names = (caller: Parameters<typeof offeredTools>[1]['caller']) =>
  offeredTools(tools, { caller, wanted: all }).map(({ tool, actions }) =>
    [tool.name, actions?.join()].join(' '),
  )
const hintsOf = (name: string) =>
  offeredTools(tools, { caller: everybody, wanted: all })
    .map(listed)
    .find((tool) => tool.name === name)!.annotations

test('toolsets are chosen by name, or all without some', () => {
  assert.equal(all.size, toolsets.length)
  assert.deepEqual([...toolsetsIn('page, files')], ['page', 'files'])
  assert.equal(toolsetsIn('all,-docs').size, toolsets.length - 1)
  assert.equal(toolsetsIn('-docs,-page').size, toolsets.length - 2)
  assert.throws(() => toolsetsIn('pages'), UnknownToolset)
})

test('each toolset has a tool, and each scope changes the list', () => {
  const used = new Set(tools.map(({ toolset }) => toolset))
  assert.deepEqual(
    toolsets.filter((name) => !used.has(name)),
    [],
  )
  const most = names(everybody)
  assert.equal(most.length, tools.length)
  for (const scope of scopes) {
    const some = names({ scopes: expandScopes([scope]), projectId: null })
    assert.ok(some.length < most.length, scope)
  }
  const ofProject = names({ scopes: undefined, projectId: 'p' }).find((line) =>
    line.startsWith('manage_projects'),
  )
  assert.ok(!ofProject!.includes('create'), 'a project key makes no projects')
})

test('what a tool needs and requires exists', () => {
  for (const tool of tools) {
    const fields = Object.keys(tool.input)
    if (!isMany(tool)) continue
    for (const [name, { requires = [] }] of Object.entries(tool.actions)) {
      for (const field of requires.flatMap((each) => each.split('|'))) {
        assert.ok(fields.includes(field) || field === 'project', `${tool.name} ${name} requires ${field}`)
      }
    }
  }
})

test('hints tell what only reads', () => {
  assert.equal(hintsOf('browser_snapshot')?.readOnlyHint, true)
  assert.equal(hintsOf('manage_browsers')?.readOnlyHint, false)
  assert.equal(hintsOf('manage_browsers')?.destructiveHint, true)
})
