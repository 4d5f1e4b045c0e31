// One of each resource in a project, for the operations of the contract to work on.
import assert from 'node:assert/strict'
import { NOWHERE } from '../fixtures/addresses.ts'
import { marker } from '../fixtures/extensions.ts'
import { formBody } from './form-body.ts'
import type { HttpCaller } from './http-exchange.ts'
import { auditExport, resourceOf, type References } from './sample-request.ts'

export async function newBrowser(caller: HttpCaller, key: string, body: object = {}): Promise<string> {
  const asked = { headless: true, timeout_seconds: 3600, ...body }
  const answer = await caller.sendJson(key, 'POST', '/browsers', asked)
  assert.equal(answer.status, 200, answer.text)
  return (answer.json as { session_id: string }).session_id
}

export async function newProxy(caller: HttpCaller, key: string): Promise<string> {
  const body = { type: 'custom', config: { host: 'proxy.invalid', port: 8080 } }
  return made(caller, key, '/proxies', body)
}

/** Nothing is sent to its collector. */
export async function newDestination(caller: HttpCaller, key: string, name = newName()): Promise<string> {
  const body = { name, endpoint: NOWHERE, headers: { Authorization: 'sample' } }
  return made(caller, key, '/telemetry/destinations', body)
}

/** It gets no event of these tests: fake instances record nothing. */
export async function newWebhook(caller: HttpCaller, key: string): Promise<string> {
  const body = { url: `${NOWHERE}/webhook`, event_types: ['replay.ready'] }
  return made(caller, key, '/webhooks', body)
}

/** A pool that is never filled, so that nothing changes on its own. */
export async function newPool(caller: HttpCaller, key: string, body: object = {}): Promise<string> {
  const asked = { size: 1, headless: true, fill_rate_per_minute: 0, ...body }
  return made(caller, key, '/browser_pools', asked)
}

export async function newExtension(caller: HttpCaller, key: string, name?: string): Promise<string> {
  const form = formBody({ file: marker(), ...(name !== undefined && { name }) })
  const answer = await caller.sendAs(key, { method: 'POST', path: '/extensions', ...form })
  assert.equal(answer.status, 201, answer.text)
  return (answer.json as { id: string }).id
}

export async function newProfile(caller: HttpCaller, key: string, name?: string): Promise<string> {
  return made(caller, key, '/profiles', name === undefined ? {} : { name })
}

export async function newCredential(caller: HttpCaller, key: string, name = newName()): Promise<string> {
  const body = { name, domain: 'sample.example', values: { password: 'sample' }, totp_secret: 'A'.repeat(16) }
  return made(caller, key, '/credentials', body)
}

/** It belongs to the organisation, and its server does not answer here. */
export async function newCredentialProvider(
  caller: HttpCaller,
  key: string,
  name = newName(),
): Promise<string> {
  const body = { name, provider_type: 'onepassword', token: 'ops_sample' }
  return made(caller, key, '/org/credential_providers', body)
}

/** It belongs to the organisation, is paused, and its store does not answer. */
export async function newAuditExport(caller: HttpCaller, key: string): Promise<string> {
  return made(caller, key, '/audit-logs/export/destinations', auditExport)
}

const newName = () => `sample ${Math.random().toString(36).slice(2)}`

/** A running deployment, and a finished invocation of it. */
export async function newApp(
  caller: HttpCaller,
  key: string,
): Promise<{ deployments: string; invocations: string }> {
  const label = `v${Math.random().toString(36).slice(2)}`
  const form = formBody({ entrypoint_rel_path: 'index.js', version: label, file: 'an archive' })
  const created = await caller.sendAs(key, { method: 'POST', path: '/deployments', ...form })
  assert.equal(created.status, 201, created.text)
  const { id: deployments } = created.json as { id: string }
  let status: string | undefined
  while (status !== 'running') {
    const answer = await caller.sendJson(key, 'GET', `/deployments/${deployments}`)
    ;({ status } = answer.json as { status: string })
    assert.notEqual(status, 'failed', answer.text)
  }
  const invoked = await caller.sendJson(key, 'POST', '/invocations', {
    app_name: 'sample',
    action_name: 'sample',
    version: label,
  })
  assert.equal(invoked.status, 200, invoked.text)
  return { deployments, invocations: (invoked.json as { id: string }).id }
}

/** Its only flow has failed, so that nothing changes on its own. */
export async function newConnection(caller: HttpCaller, key: string): Promise<string> {
  const body = {
    domain: 'captcha.example',
    profile_name: `of-connection-${Math.random().toString(36).slice(2)}`,
  }
  const id = await made(caller, key, '/auth/connections', body)
  const begun = await caller.sendJson(key, 'POST', `/auth/connections/${id}/login`, {})
  assert.equal(begun.status, 200, begun.text)
  let status: string | undefined
  while (status !== 'FAILED') {
    const answer = await caller.sendJson(key, 'GET', `/auth/connections/${id}`)
    ;({ flow_status: status } = answer.json as { flow_status: string })
    assert.match(status, /^(IN_PROGRESS|FAILED)$/, answer.text)
  }
  return id
}

/** The flow of a connection of its own. */
export async function newFlow(caller: HttpCaller, key: string): Promise<string> {
  const id = await newConnection(caller, key)
  const answer = await caller.sendJson(key, 'GET', `/auth/connections/${id}/timeline`)
  assert.equal(answer.status, 200, answer.text)
  return (answer.json as { id: string }[])[0]!.id
}

async function made(caller: HttpCaller, key: string, path: string, body: object): Promise<string> {
  const answer = await caller.sendJson(key, 'POST', path, body)
  assert.equal(answer.status, 201, answer.text)
  return (answer.json as { id: string }).id
}

const makers: Record<string, (caller: HttpCaller, key: string) => Promise<string>> = {
  browsers: newBrowser,
  proxies: newProxy,
  browser_pools: newPool,
  extensions: (caller, key) => newExtension(caller, key),
  profiles: (caller, key) => newProfile(caller, key),
  credentials: (caller, key) => newCredential(caller, key),
  connections: newConnection,
  flows: newFlow,
  destinations: (caller, key) => newDestination(caller, key),
  webhooks: newWebhook,
}

/** Their ids, by the word before them in paths. */
export async function newResources(
  caller: HttpCaller,
  key: string,
  organizationKey = key,
): Promise<References> {
  const entries: [string, string][] = []
  for (const [resource, make] of Object.entries(makers)) entries.push([resource, await make(caller, key)])
  entries.push(['credential_providers', await newCredentialProvider(caller, organizationKey)])
  entries.push(['audit_exports', await newAuditExport(caller, organizationKey)])
  return { ...Object.fromEntries(entries), ...(await newApp(caller, key)) }
}

/** Only the resource that a path works on. */
export async function newResourceFor(
  path: string,
  { caller, key, organizationKey }: { caller: HttpCaller; key: string; organizationKey: string },
): Promise<References> {
  const resource = resourceOf(path)
  if (resource === 'deployments' || resource === 'invocations') return newApp(caller, key)
  if (resource === 'credential_providers')
    return { [resource]: await newCredentialProvider(caller, organizationKey) }
  if (resource === 'audit_exports') return { [resource]: await newAuditExport(caller, organizationKey) }
  const make = resource === undefined ? undefined : makers[resource]
  return resource === undefined || make === undefined ? {} : { [resource]: await make(caller, key) }
}

export const absentResources: References = Object.fromEntries(
  [...Object.keys(makers), 'audit_exports', 'credential_providers', 'deployments', 'invocations'].map(
    (resource) => [resource, 'absent'],
  ),
)
