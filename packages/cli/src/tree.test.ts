// The table of commands as a whole: it builds, reaches every operation, and has what the published command line has.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Command } from 'commander'
import { operationIds } from './api/operations.ts'
import { isNoun, type Noun, type Verb } from './command/rows.ts'
import { complete } from './complete.ts'
import { nouns } from './nouns.ts'
import { ALL, makeProgram } from './program.ts'
import { published } from './published-tree.ts'

const program = await makeProgram(async () => {}, ALL)

function find(words: readonly string[]): Command | undefined {
  let command: Command | undefined = program
  for (const word of words)
    command = command?.commands.find((each) => each.name() === word || each.aliases().includes(word))
  return command
}

test('it has every command and every flag of the published command line', () => {
  const missing: string[] = []
  for (const [line, flags] of Object.entries(published)) {
    const command = find(line.split(' '))
    if (command === undefined) missing.push(line)
    else
      for (const flag of flags.split(/\s+/).filter(Boolean))
        if (!command.options.some(({ long, short }) => long === flag || short === flag))
          missing.push(`${line} ${flag}`)
  }
  assert.deepEqual(missing, [])
})

test('every operation has a command, apart from those for browsers and machines', async () => {
  const used = new Set<string>()
  const visit = (row: Noun | Verb) => {
    if (!isNoun(row)) return void (row.op !== undefined && used.add(row.op))
    if (row.itself?.op !== undefined) used.add(row.itself.op)
    row.verbs.forEach(visit)
  }
  for (const { load } of nouns) visit((await load()).noun)
  const others = operationIds().filter((id) => !used.has(id))
  assert.deepEqual(others.toSorted(), WITHOUT_A_ROW.toSorted())
})

/** Each for a reason: a command of its own calls it, an older name of another, or only pages and machines do. */
const WITHOUT_A_ROW = [
  // Called by commands of their own.
  'createDeployment',
  'createInvocation',
  'followDeployment',
  'followInvocation',
  'loadExtensions',
  // `browsers curl` uses the raw form.
  'curlBrowser',
  'curlRawDelete',
  'curlRawGet',
  'curlRawPatch',
  'curlRawPost',
  'curlRawPut',
  // Of older clients.
  'deletePersistentBrowser',
  'createAuthAgent',
  'createAuthInvocation',
  'deleteAuthAgent',
  'exchangeAuthInvocation',
  'getAuthAgent',
  'getAuthInvocation',
  'listAuthAgents',
  'submitAuthInvocation',
  // Of pages.
  'followPreviews',
  'exchangeAuthConnectionHandoff',
  'createSignIn',
  'deleteSignIn',
  'getSignIn',
  'getDocs',
  // Of machines; `berth api GET /metrics` shows them.
  'getHealth',
  'getMetrics',
  'getOpenApi',
  'getReadiness',
]

test('no command has two flags of one name, and every command has a summary', () => {
  const visit = (command: Command, path: string) => {
    const names = command.options
      .flatMap(({ long, short }) => [long, short])
      .filter((each) => each !== undefined)
    assert.equal(new Set(names).size, names.length, `${path}: ${names.join(' ')}`)
    assert.ok(command.description() !== '', path)
    for (const child of command.commands) visit(child, `${path} ${child.name()}`)
  }
  visit(program, 'berth')
})

const words = async (...given: string[]) =>
  (await complete(given)).split('\n').map((line) => line.split('\t')[0])

test('completions know commands, flags and values', async () => {
  assert.ok((await words('brow')).includes('browsers'))
  assert.ok((await words('browsers', 'computer', 'cl')).includes('click-mouse'))
  assert.ok((await words('browsers', 'create', '--head')).includes('--headless'))
  assert.deepEqual(await words('browsers', 'list', '-o', 'j'), ['json', ''])
  assert.deepEqual(await words('browsers', 'list', '--status', 'act'), ['active', ''])
})
