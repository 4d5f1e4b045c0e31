// Importing a session with the command line, against a server with fake instances.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { connect } from '../fixtures/auth-connections.ts'
import { startServer } from '../fixtures/server.ts'
import { berthFor } from './berth.ts'

const owner = { after }
const server = await startServer(owner)
const berth = berthFor(owner, server)

const save = (name: string, content: unknown): string => {
  const path = join(berth.home, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}
const run = (...args: string[]) => berth(['auth', 'connections', 'import', ...args])
const cookie = { name: 'sid', value: 'right', domain: 'imported.example' }

test('a file of each format is imported, and what is left out is said', async () => {
  const files = [
    save('state.json', { cookies: [cookie, { ...cookie, domain: 'elsewhere.example' }], origins: [] }),
    save('cookies.json', [cookie, { ...cookie, domain: 'elsewhere.example' }]),
    save(
      'cookies.txt',
      'imported.example\tFALSE\t/\tTRUE\t0\tsid\tright\nelsewhere.example\tFALSE\t/\tTRUE\t0\tsid\tx\n',
    ),
  ]
  for (const file of files) {
    const { id } = await connect(server, 'imported')
    const { code, stdout, stderr } = await run(id, file, '--wait', '-o', 'json')
    assert.equal(code, 0, stderr)
    assert.match(stderr, /Left out 1: sid of elsewhere\.example \(other domain\)/)
    assert.equal((JSON.parse(stdout) as { status: string }).status, 'AUTHENTICATED')
  }
})

test('a session that the website refuses, and a file that is none, end with an error', async () => {
  const { id } = await connect(server, 'imported')
  const wrong = await run(id, save('wrong.json', [{ ...cookie, value: 'wrong' }]), '--wait')
  assert.equal(wrong.code, 1)
  assert.match(wrong.stderr, /The login did not succeed/)
  const other = await run(id, save('notes.txt', 'hello'))
  assert.equal(other.code, 2)
  assert.match(other.stderr, /The file is none of/)
  const missing = await run(id, join(berth.home, 'absent.json'))
  assert.equal(missing.code, 2)
  assert.match(missing.stderr, /Cannot read/)
})
