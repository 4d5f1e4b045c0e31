// A run: starts a server, and sends requests generated from its own document.
import { newKey } from '../conformance/fixture-keys.ts'
import { HttpCaller } from '../conformance/http-exchange.ts'
import { auditExport } from '../conformance/sample-request.ts'
import { NOWHERE } from '../fixtures/addresses.ts'
import { startStore } from '../fixtures/chrome-store.ts'
import type { Owner } from '../fixtures/cleanup.ts'
import { startConnect } from '../fixtures/connect-server.ts'
import { marker } from '../fixtures/extensions.ts'
import { startServer, type TestServer } from '../fixtures/server.ts'
import { ApiDocument } from './document.ts'
import { Generator } from './generator.ts'
import { Judge } from './judge.ts'
import { Random } from '../fixtures/random.ts'
import { Report, UNKNOWN } from './report.ts'
import { toExchange } from './request.ts'
import { World } from './world.ts'

const CONCURRENCY = 12

export interface FuzzOptions {
  readonly requests: number
  readonly seed: number
  /** Called from time to time with the number of sent requests. */
  readonly onProgress?: (sent: number) => void
}

export interface FuzzResult {
  readonly table: string
  /** Empty if everything is fine. */
  readonly problems: readonly string[]
}

export async function fuzz(owner: Owner, { requests, seed, onProgress }: FuzzOptions): Promise<FuzzResult> {
  const store = await startStore(owner)
  const connect = await startConnect(owner, { vaults: [{ id: 'vault', name: 'Vault', items: [] }] })
  const allowed = [store, connect].map(({ port }) => `host.berth.internal:${port}`)
  const env = {
    ...store.env,
    BERTH_EGRESS_ALLOW: allowed.join(','),
    BERTH_LOG_LEVEL: 'warn',
    BERTH_ACQUIRE_WAIT_SECONDS: '1',
  }
  const server = await startServer(owner, { env })
  const caller = new HttpCaller(owner, server.url)
  const document = new ApiDocument(
    (await (await server.fetch('/openapi.json')).json()) as Record<string, unknown>,
  )
  // These are hidden from the world, so that no request can delete or end the keys of the run.
  const driverKeys = [server.key, (await newKey(caller, server.key, { name: 'spare' })).key]
  const world = new World()
  const provider = { provider_type: 'onepassword', token: connect.token, server_url: connect.url }
  // Always refused otherwise: no such credential or proxy exists.
  const connection = {
    credential: undefined,
    proxy: undefined,
    login_url: undefined,
    allowed_domains: ['sso.example'],
  }
  const collector = { endpoint: NOWHERE, headers: { Authorization: 'sample' } }
  const samples = {
    postAuthConnections: { body: connection },
    patchAuthConnectionsById: { body: connection },
    postAuthConnectionsLogin: { body: { proxy: undefined } },
    postCredentialProviders: { body: provider },
    postCredentialProvidersAtOrgCredentialProviders: { body: provider },
    createAuthAgent: {
      body: { ...connection, domain: 'a.example', target_domain: undefined, credential_name: undefined },
    },
    createTelemetryDestination: { body: collector },
    updateTelemetryDestination: { body: collector },
    createAuditLogExportDestination: { body: auditExport },
    createWebhook: { body: { url: NOWHERE, event_types: ['pool.empty'] } },
    updateWebhook: { body: { url: `${NOWHERE}/changed` } },
    postExtensions: { form: { file: marker() } },
    getExtensionsFromChromeStore: { query: [['url', store.id]] as [string, string][] },
    // Always the same app, replacing the previous one.
    postDeployments: {
      form: { entrypoint_rel_path: 'index.js', force: 'true', file: Buffer.from('an archive') },
    },
  }
  const generator = new Generator({ document, random: new Random(seed), world, driverKeys, samples })
  const judge = new Judge(document)
  const report = new Report(document.operations.map(({ id }) => id))

  let sent = 0
  const work = async () => {
    while (sent < requests) {
      sent++
      if (sent % 10_000 === 0) onProgress?.(sent)
      const request = generator.next()
      const operation = judge.operationOf(request)
      const id = operation?.id ?? UNKNOWN
      const answer = await caller.send(toExchange(request)).catch((error: unknown) => String(error))
      if (typeof answer === 'string') {
        report.complain(id, `did not come: ${answer}`, request, '')
        continue
      }
      report.count(id, answer.status)
      const complaint = judge.complaint(request, answer)
      if (complaint) report.complain(id, complaint, request, answer.text)
      if (operation && answer.status < 300) {
        const { method, reference } = request
        world.learn({ method, template: operation.path, reference }, answer)
      }
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  return { table: report.table(), problems: [...report.problems, ...(await aftermath(server))] }
}

/** The server is healthy, and logged no error that no answer reported. */
async function aftermath(server: TestServer): Promise<string[]> {
  const problems: string[] = []
  const ready = await server.fetch('/ready')
  if (ready.status !== 200) problems.push(`The server is not ready afterwards: ${ready.status}`)
  const faults = server
    .output()
    .split('\n')
    .filter((line) => line.includes('"level":"error"') || line.includes('deadlock detected'))
  if (faults.length > 0) problems.push(`The server logged ${faults.length} faults, the first: ${faults[0]}`)
  return problems
}
