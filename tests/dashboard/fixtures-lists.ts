// A person at the lists of the dashboard, and thousands of rows to list.
import assert from 'node:assert/strict'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'
import type { TestServer } from '../fixtures/server.ts'
import { createSession, query } from '../fixtures/sessions.ts'
import { signIn } from './person.ts'

export interface Visited {
  readonly page: Page
  /** Must stay empty. */
  readonly complaints: readonly string[]
}

export interface VisitOptions extends BrowserContextOptions {
  readonly key?: string
}

/** Signs in at the path, and waits until the page has a title. */
export async function visit(
  owner: Owner,
  { browser, server, path }: { browser: Browser; server: Pick<TestServer, 'url' | 'key'>; path: string },
  { key = server.key, ...options }: VisitOptions = {},
): Promise<Visited> {
  const person = await signIn(browser, { url: server.url, key, path, options })
  cleanUpAfter(owner, () => person.page.context().close())
  await person.page.locator('#content h1').waitFor({ state: 'attached' })
  return person
}

export interface ManyOptions {
  readonly count: number
  /** Of every tenth. */
  readonly tags?: Record<string, string>
}

/** Ended sessions named `past-1` and so on, the highest number newest, written into the database. */
export async function addPastSessions(
  server: TestServer,
  { count, tags = { team: 'ten' } }: ManyOptions,
): Promise<void> {
  const { session_id: id } = await createSession(server)
  assert.equal((await server.fetch(`/browsers/${id}`, { method: 'DELETE' })).status, 204)
  await query(
    server,
    `INSERT INTO browsers SELECT (jsonb_populate_record(one, jsonb_build_object(
      'id', 'a' || substr(md5(n::text), 1, 23),
      'name', 'past-' || n,
      'tags', CASE WHEN n % 10 = 0 THEN $3::jsonb ELSE '{}'::jsonb END,
      'state', 'ended',
      'end_reason', CASE WHEN n % 4 = 0 THEN 'crashed' ELSE 'deleted' END,
      'created_at', now() - make_interval(secs => ($2::int - n) * 60 + 60),
      'deleted_at', now() - make_interval(secs => ($2::int - n) * 60),
      'ended_at', now() - make_interval(secs => ($2::int - n) * 60),
      'uptime_ms', n * 1000
    ))).* FROM browsers AS one, generate_series(1, $2::int) AS n WHERE one.id = $1`,
    [id, count, JSON.stringify(tags)],
  )
}
