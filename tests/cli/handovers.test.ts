// Every command of handovers, against a server with fake instances. The person answers in the page's way.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Handover } from '@berth/contracts/handovers'
import { startServer } from '../fixtures/server.ts'
import { createSession, send } from '../fixtures/sessions.ts'
import { berthFor } from './berth.ts'

const owner = { after }
const server = await startServer(owner)
const berth = berthFor(owner, server)
const { session_id: session } = await createSession(server, { name: 'handed' })

async function json(...args: string[]): Promise<Handover> {
  const { code, stdout, stderr } = await berth(['browsers', 'handover', ...args, '-o', 'json'])
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout) as Handover
}

async function answer(url: string, body: object): Promise<void> {
  const page = new URL(url)
  page.pathname = '/browser/live/handover'
  const headers = { 'content-type': 'application/json' }
  const { status } = await fetch(page, { method: 'POST', headers, body: JSON.stringify(body) })
  assert.equal(status, 200)
}

test('a session is handed over by its name, and the command that waits hears of the end', async () => {
  const made = await json(
    'create',
    'handed',
    '--message',
    'Log in\nthen click Done',
    '--expires-in-seconds',
    '600',
  )
  assert.deepEqual([made.session_id, made.state], [session, 'waiting'])
  assert.equal(made.message, 'Log in\nthen click Done')
  assert.match(made.url!, /\/browser\/live\?jwt=/)
  const read = await json('get', 'handed', made.id)
  assert.deepEqual([read.state, read.url], ['waiting', undefined])
  const waiting = json('get', 'handed', made.id, '--wait-seconds', '50')
  await answer(made.url!, { outcome: 'done', note: 'The code was 17' })
  const over = await waiting
  assert.deepEqual([over.state, over.note], ['done', 'The code was 17'])
})

test('the address for the person is shown whole, also on a small terminal', async () => {
  const { code, stdout } = await berth(['browsers', 'handover', 'create', 'handed', '--message', 'Log in'])
  assert.equal(code, 0)
  const url = /^url +(\S+)$/m.exec(stdout)?.[1]
  assert.ok(url, stdout)
  await answer(url, { outcome: 'declined' })
})

test('a handover is ended from the command line', async () => {
  const { id } = await json('create', 'handed', '--message', 'x')
  const over = await json('finish', 'handed', id, '--outcome', 'cancelled', '--note', 'not needed')
  assert.deepEqual([over.state, over.note], ['cancelled', 'not needed'])
  assert.equal(
    (await json('finish', 'handed', id, '--outcome', 'done')).state,
    'cancelled',
    'the first counts',
  )
})

test('errors name the flag, and what does not exist', async () => {
  const cases: [args: string[], code: number, message: RegExp][] = [
    [['create', 'handed'], 2, /--message is missing/],
    [['create', 'handed', '--message', 'x', '--expires-in-seconds', '1'], 2, /expires_in_seconds/],
    [['finish', 'handed', 'absent', '--outcome', 'done'], 4, /not_found: /],
    [['finish', 'handed', 'absent'], 2, /--outcome is missing/],
    [['finish', 'handed', 'absent', '--outcome', 'maybe'], 2, /done, declined, cancelled/],
    [['get', 'handed', 'absent'], 4, /not_found: /],
    [['get', 'nobody', 'absent'], 4, /not_found: /],
  ]
  for (const [args, code, message] of cases) {
    const ran = await berth(['browsers', 'handover', ...args])
    assert.equal(ran.code, code, `${args.join(' ')}: ${ran.stderr}`)
    assert.match(ran.stderr, message)
  }
  await send(server, 'DELETE', `/browsers/${session}`)
})
