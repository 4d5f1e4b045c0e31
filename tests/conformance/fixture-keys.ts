// The tenants of these tests: two projects that must not see each other, and keys of each.
import assert from 'node:assert/strict'
import type { ApiKey, CreatedApiKey } from '@berth/contracts/api-keys'
import type { Project } from '@berth/contracts/projects'
import type { HttpCaller } from './http-exchange.ts'

export interface Tenant {
  readonly project: Project
  readonly key: IssuedKey
}

export type IssuedKey = ApiKey & { readonly key: string }

export async function newProject(caller: HttpCaller, orgKey: string, name: string): Promise<Project> {
  const answer = await caller.sendJson(orgKey, 'POST', '/org/projects', { name })
  assert.equal(answer.status, 201, answer.text)
  return answer.json as Project
}

export async function newKey(
  caller: HttpCaller,
  maker: string,
  body: { name: string; project_id?: string; days_to_expire?: number },
): Promise<IssuedKey> {
  const answer = await caller.sendJson(maker, 'POST', '/org/api_keys', body)
  assert.equal(answer.status, 201, answer.text)
  const created = answer.json as CreatedApiKey
  assert.ok(created.key)
  return { ...created, key: created.key }
}

export async function newTenant(caller: HttpCaller, orgKey: string, name: string): Promise<Tenant> {
  const project = await newProject(caller, orgKey, name)
  const key = await newKey(caller, orgKey, { name: `key of ${name}`, project_id: project.id })
  return { project, key }
}

export async function newProxy(caller: HttpCaller, key: string): Promise<string> {
  const body = { type: 'custom', config: { host: 'proxy.invalid', port: 8080 } }
  const answer = await caller.sendJson(key, 'POST', '/proxies', body)
  assert.equal(answer.status, 201, answer.text)
  return (answer.json as { id: string }).id
}

/** One that nobody fills, so that nothing changes by itself. */
export async function newPool(caller: HttpCaller, key: string, body: object = {}): Promise<string> {
  const asked = { size: 1, headless: true, fill_rate_per_minute: 0, ...body }
  const answer = await caller.sendJson(key, 'POST', '/browser_pools', asked)
  assert.equal(answer.status, 201, answer.text)
  return (answer.json as { id: string }).id
}

export async function newBrowser(caller: HttpCaller, key: string, body: object = {}): Promise<string> {
  const answer = await caller.sendJson(key, 'POST', '/browsers', {
    headless: true,
    timeout_seconds: 3600,
    ...body,
  })
  assert.equal(answer.status, 200, answer.text)
  return (answer.json as { session_id: string }).session_id
}
