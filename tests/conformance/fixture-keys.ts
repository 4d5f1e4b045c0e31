// The tenants of these tests: two projects that must not see each other, and their keys.
import assert from 'node:assert/strict'
import type { ApiKey, CreatedApiKey } from '@berth/contracts/api-keys'
import type { Scope } from '@berth/contracts/scopes'
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
  body: { name: string; project_id?: string; days_to_expire?: number; scopes?: Scope[] },
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
