// A request for any row of the contract that would succeed and leave a trace if it were accepted.
import type { Operation } from '@berth/contracts/operation'
import { NOWHERE } from '../fixtures/addresses.ts'
import { marker } from '../fixtures/extensions.ts'
import { formBody, type FormParts } from './form-body.ts'
import type { Exchange } from './http-exchange.ts'

/** The value for `{id}`, by the word before it in the path. */
export type References = Readonly<Record<string, string>>

const HOUR_MS = 3_600_000

/** Its store does not answer. */
export const auditExport = {
  type: 's3',
  format: 'jsonl.gz',
  bucket: 'sample',
  prefix: '',
  region: 'us-east-1',
  endpoint: 'https://s3.invalid',
  access_key_id: 'sample',
  secret_access_key: 'sample',
}

// The body that changes most; an operation not listed sends only its required fields.
const bodies: Record<string, object> = {
  createProject: { name: 'made by a stranger' },
  updateProject: { name: 'renamed by a stranger' },
  updateProjectLimits: { max_concurrent_sessions: 7, max_concurrent_invocations: 7, max_pooled_sessions: 7 },
  updateOrganizationLimits: { default_project_max_concurrent_sessions: 7 },
  createBrowser: { name: 'made-by-a-stranger', headless: true },
  updateBrowser: { name: 'renamed-by-a-stranger' },
  createBrowserPool: { name: 'made-by-a-stranger', size: 1, headless: true, fill_rate_per_minute: 0 },
  updateBrowserPool: { name: 'renamed-by-a-stranger' },
  acquireBrowser: { acquire_timeout_seconds: 0 },
  deleteBrowserPool: { force: true },
  createApiKey: { name: 'made by a stranger' },
  updateApiKey: { name: 'renamed by a stranger' },
  rotateApiKey: { expire_in_days: 0 },
  createProxy: { type: 'custom', name: 'made by a stranger', config: { host: 'proxy.invalid', port: 8080 } },
  updateProxy: { name: 'renamed by a stranger' },
  createTelemetryDestination: { name: 'made by a stranger', endpoint: NOWHERE },
  updateTelemetryDestination: { name: 'renamed by a stranger' },
  // An event that does not happen in tests, so that nothing is written between two looks at the database.
  createWebhook: { url: `${NOWHERE}/made-by-a-stranger`, event_types: ['quota.near'] },
  updateWebhook: { url: `${NOWHERE}/changed-by-a-stranger` },
  pressKey: { keys: ['Return'] },
  invokeWebMcpTool: { tool_ref: 'sample', input: {} },
  createAuthConnection: { domain: 'stranger.example', profile_name: 'made-by-a-stranger' },
  createAuthAgent: { domain: 'stranger.example', profile_name: 'made-by-a-stranger' },
  submitAuthInvocation: { field_values: { email: 'typed by a stranger' } },
  updateAuthConnection: { health_checks: false },
  submitAuthConnection: { field_values: { email: 'typed by a stranger' } },
  createHandover: { message: 'asked by a stranger' },
  finishHandover: { outcome: 'cancelled' },
  createProfile: { name: 'made-by-a-stranger' },
  updateProfile: { name: 'renamed-by-a-stranger' },
  createCredential: { name: 'made by a stranger', domain: 'sample.example', values: { password: 'sample' } },
  updateCredential: { name: 'renamed by a stranger', values: { password: 'of a stranger' } },
  createCredentialProvider: {
    name: 'made by a stranger',
    provider_type: 'onepassword',
    token: 'ops_of-a-stranger',
  },
  createAuditLogExportDestination: auditExport,
  updateAuditLogExportDestination: { prefix: 'of-a-stranger' },
  importAuthConnectionSession: { cookies: [{ name: 'sid', value: 'sample', domain: 'captcha.example' }] },
  updateCredentialProvider: { name: 'renamed by a stranger', enabled: false },
}

/** Form fields that change most. */
const forms: Record<string, FormParts> = {
  uploadExtension: { name: 'made-by-a-stranger', file: marker() },
}

export function sampleRequest(operation: Operation, path: string, references: References): Exchange {
  const form = forms[operation.id]
  if (form) return { method: operation.method, path: fillPath(path, references), ...formBody(form) }
  const body = sampleBody(operation)
  return {
    method: operation.method,
    path: fillPath(path, references) + sampleQuery(operation),
    ...(body && { headers: [['Content-Type', 'application/json']], body: JSON.stringify(body) }),
  }
}

export function sampleBody(operation: Operation): object | undefined {
  if (!operation.body) return undefined
  return bodies[operation.id] ?? requiredValues(operation.body)
}

/** Resources that exist only below another one. */
const parts: References = {
  executors: 'absent',
  handovers: 'absent',
  passkeys: 'absent',
  watch: 'absent',
  process: '00000000-0000-4000-8000-000000000000',
  replays: '00000000-0000-4000-8000-000000000000',
  versions: '1',
  timeline: 'absent',
  steps: '1',
  deliveries: 'absent',
}

export function fillPath(path: string, references: References): string {
  return path.replaceAll(/([\w-]+)\/\{\w+\}/g, (_match, word: string) => {
    const resource = resourceCalled(word, path)
    const reference = references[resource] ?? parts[resource]
    if (reference === undefined) throw new Error(`No sample id of ${resource} for ${path}; add one`)
    return `${word}/${encodeURIComponent(reference)}`
  })
}

/** The word before the first `{id}` of a path: the resource that the operation works on. */
export function resourceOf(path: string): string | undefined {
  const word = /([\w-]+)\/\{\w+\}/.exec(path)?.[1]
  return word === undefined ? undefined : resourceCalled(word, path)
}

/**
 * Old paths spell the same word with other characters, or call a connection and its flows something else. There are
 * destinations of several kinds.
 */
export function resourceCalled(word: string, path: string): string {
  if (path === '/agents/auth' || path.startsWith('/agents/auth/'))
    return word === 'auth' ? 'connections' : 'flows'
  if (path.startsWith('/audit-logs/export/')) return 'audit_exports'
  return word.replaceAll('-', '_')
}

/** Only the required parameters. */
export function sampleQueryValues(operation: Operation): Record<string, unknown> {
  return operation.query ? requiredValues(operation.query) : {}
}

function sampleQuery(operation: Operation): string {
  const query = Object.entries(sampleQueryValues(operation)).map(
    ([name, value]) => `${name}=${encodeURIComponent(String(value))}`,
  )
  return query.length > 0 ? `?${query.join('&')}` : ''
}

interface ObjectSchema {
  readonly required?: readonly string[]
  readonly properties: Readonly<
    Record<
      string,
      { type?: unknown; format?: string; enum?: unknown[]; examples?: unknown[]; minimum?: number }
    >
  >
}

function requiredValues(schema: object): Record<string, unknown> {
  const { required = [], properties } = schema as ObjectSchema
  return Object.fromEntries(required.map((name) => [name, sampleValue(name, properties[name]!)]))
}

function sampleValue(name: string, schema: ObjectSchema['properties'][string]): unknown {
  if (schema.enum) return schema.enum[0]
  if (schema.examples) return schema.examples[0]
  if (schema.format === 'date-time') {
    return new Date(Date.now() + (name === 'end' ? HOUR_MS : -HOUR_MS)).toISOString()
  }
  switch ([schema.type].flat()[0]) {
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    case 'string':
      return 'sample'
    default:
      throw new Error(`No sample for "${name}": ${JSON.stringify(schema)}`)
  }
}
