// Berth on the cluster as an operator installs it: the chart, by the real Helm, in a namespace of its own. PostgreSQL and
// S3 are on the machine of the tests.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cleanUpAfter, type Owner } from '../../fixtures/cleanup.ts'
import { startCeph } from '../../fixtures/ceph.ts'
import { chart, helmProgram } from '../../fixtures/helm.ts'
import { eventually } from '../../fixtures/host.ts'
import { requestsTo, tempDir, type TestServer } from '../../fixtures/server.ts'
import { newDatabase } from '../../fixtures/shared-postgres.ts'
import { query } from '../../fixtures/sessions.ts'
import { cluster, kubectlIn, place } from '../cluster.ts'
import { machine, openToPods } from './machine.ts'

const execute = promisify(execFile)
const INSTALL_MS = 300_000
const INSTANCES = 'app.kubernetes.io/name=berth-instance'
const SERVERS = 'app.kubernetes.io/component=server'
const key = 'sk_kubernetes00_abcdefghijklmnopqrstuvwxyz012345'

/** A server, or all of them, as clients reach them. */
export type Entrance = Pick<TestServer, 'url' | 'key' | 'fetch' | 'databaseUrl' | 'dataDir'>

export interface Pod {
  readonly metadata: {
    readonly name: string
    readonly uid: string
    readonly deletionTimestamp?: string
    readonly labels: Readonly<Record<string, string>>
  }
  readonly spec: { readonly nodeName?: string }
  readonly status: {
    readonly podIP?: string
    readonly containerStatuses?: readonly { readonly ready: boolean; readonly containerID?: string }[]
  }
}

export interface FleetOptions {
  /** Of the chart. */
  readonly values?: Readonly<Record<string, unknown>>
  readonly settings?: Readonly<Record<string, string>>
  /** Further ones, beside those that every installation needs. */
  readonly secrets?: Readonly<Record<string, string>>
  /** Profiles, recordings and apps are found by every server. Otherwise they are in the Pods of servers. */
  readonly hasBucket?: boolean
}

let count = 0

export class Fleet implements Entrance {
  readonly namespace: string
  readonly url: string
  readonly key = key
  readonly fetch: TestServer['fetch']
  /** For the tests, not for Pods. */
  readonly databaseUrl: string
  readonly dataDir = ''
  readonly #install: (values: Readonly<Record<string, unknown>>) => Promise<void>

  private constructor(options: {
    namespace: string
    url: string
    databaseUrl: string
    install: (values: Readonly<Record<string, unknown>>) => Promise<void>
  }) {
    this.namespace = options.namespace
    this.url = options.url
    this.databaseUrl = options.databaseUrl
    this.#install = options.install
    this.fetch = requestsTo(this)
  }

  static async install(owner: Owner, options: FleetOptions = {}): Promise<Fleet> {
    const namespace = `berth-${process.pid}-${++count}`
    const database = await newDatabase(owner)
    const socket = new URLSearchParams(database.url.split('?')[1]).get('host')!
    const port = await openToPods(owner, join(socket, '.s.PGSQL.5432'))
    const bucket = options.hasBucket ? await newBucket(owner, namespace) : undefined
    await kubectlIn('', 'create', 'namespace', namespace)
    cleanUpAfter(owner, () => removeNamespace(owner, namespace))
    await apply(owner, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'berth-secrets', namespace },
      stringData: {
        DATABASE_URL: `postgres://berth@${machine}:${port}/${database.name}`,
        BERTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        BERTH_API_KEY: key,
        ...bucket?.secrets,
        ...options.secrets,
      },
    })
    const values = {
      image: {
        repository: cluster.image.replace(/:[^:/]*$/, ''),
        tag: tagOf(cluster.image),
        pullPolicy: place.pullPolicy,
      },
      secret: 'berth-secrets',
      blobs: bucket ? { url: bucket.url } : { ephemeral: true },
      drainSeconds: 2,
      resources: { requests: { cpu: '50m', memory: '256Mi' } },
      ...options.values,
      instances: { cpuPercent: 5, memoryPercent: 50, ...(options.values?.['instances'] as object) },
      settings: {
        BERTH_RATE_LIMIT_PER_MINUTE: '0',
        BERTH_WARM_HEADLESS: '0',
        BERTH_WARM_HEADFUL: '0',
        BERTH_EMPTY_INSTANCES: '0',
        ...bucket?.settings,
        ...options.settings,
      },
    }
    const install = async (changes: Readonly<Record<string, unknown>>) => {
      const file = join(tempDir(owner), 'values.json')
      writeFileSync(file, JSON.stringify({ ...values, ...changes }))
      await helm(
        owner,
        'upgrade',
        '--install',
        'berth',
        chart,
        `--namespace=${namespace}`,
        `--values=${file}`,
        '--wait',
      )
    }
    await install({})
    const address = await kubectlIn(
      namespace,
      'get',
      'service',
      'berth',
      '--output',
      'jsonpath={.spec.clusterIP}',
    )
    return new Fleet({ namespace, url: `http://${address}`, databaseUrl: database.url, install })
  }

  /** Changes values of the chart, and waits until the new servers are ready. */
  upgrade(changes: Readonly<Record<string, unknown>>): Promise<void> {
    return this.#install(changes)
  }

  kubectl(...args: string[]): Promise<string> {
    return kubectlIn(this.namespace, ...args)
  }

  /** One server, by its own address. */
  at({ status }: Pod): Entrance {
    const url = `http://${status.podIP}:8080`
    const { databaseUrl, dataDir } = this
    return { url, key, databaseUrl, dataDir, fetch: requestsTo({ url, key }) }
  }

  /** Those that are ready and stay. */
  async servers(): Promise<readonly Pod[]> {
    const pods = await this.pods(SERVERS)
    return pods.filter(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined && status.containerStatuses?.every(({ ready }) => ready),
    )
  }

  /** Also those that are being deleted. */
  instances(): Promise<readonly Pod[]> {
    return this.pods(INSTANCES)
  }

  async pods(selector: string): Promise<readonly Pod[]> {
    const text = await this.kubectl('get', 'pods', '--selector', selector, '--output', 'json')
    return (JSON.parse(text) as { items: Pod[] }).items
  }

  /** The Pod of a session. */
  async podOf(sessionId: string): Promise<Pod> {
    const [row] = await query<{ instance_id: string }>(
      this,
      'SELECT instance_id FROM browsers WHERE id = $1',
      [sessionId],
    )
    const found = (await this.instances()).find(
      ({ metadata }) => metadata.name === `berth-${row?.instance_id}`,
    )
    assert.ok(found, `session ${sessionId} has a Pod`)
    return found
  }

  /** What there still is of sessions: Pods, Secrets, and rows that are not over. */
  async left(): Promise<string[]> {
    const names = await this.kubectl('get', 'pods,secrets', '--selector', INSTANCES, '--output', 'name')
    const rows = await query<{ id: string; state: string }>(
      this,
      `SELECT id, state FROM browsers WHERE state <> 'ended'`,
    )
    return [...names.split('\n').filter(Boolean), ...rows.map(({ id, state }) => `row ${id} ${state}`)]
  }

  async assertNothingLeft(withinMs = 120_000): Promise<void> {
    let left: string[] = []
    await eventually(
      () => `nothing is left of sessions, there is ${left.join(', ')}`,
      async () => (left = await this.left()).length === 0,
      withinMs,
    )
  }
}

const tagOf = (image: string) => /:([^:/]*)$/.exec(image)?.[1] ?? 'latest'

async function newBucket(owner: Owner, name: string) {
  const ceph = await startCeph(owner)
  await ceph.createBucket(name)
  const port = await openToPods(owner, ceph.port)
  return {
    url: `s3://${name}`,
    settings: { BERTH_S3_ENDPOINT: `http://${machine}:${port}` },
    secrets: { BERTH_S3_ACCESS_KEY_ID: ceph.accessKeyId, BERTH_S3_SECRET_ACCESS_KEY: ceph.secretAccessKey },
  }
}

async function apply(owner: Owner, object: object): Promise<void> {
  const file = join(tempDir(owner), 'object.json')
  writeFileSync(file, JSON.stringify(object))
  await kubectlIn('', 'apply', '--filename', file)
}

/** In its own process, because the servers that it waits for reach their database through this one. */
async function helm(owner: Owner, ...args: string[]): Promise<void> {
  const home = join(tempDir(owner), 'helm')
  mkdirSync(home)
  const env = { PATH: process.env['PATH'], HOME: home, KUBECONFIG: cluster.kubeconfig }
  await execute(helmProgram(), [...args, `--timeout=${INSTALL_MS / 1000}s`], { env })
}

async function removeNamespace(owner: Owner, namespace: string): Promise<void> {
  const hasFailed = 'error' in owner && owner.error
  if (hasFailed || process.env['BERTH_TEST_LOG']) await showWhatHappened(namespace)
  // A PriorityClass is in no namespace.
  await helm(owner, 'uninstall', 'berth', `--namespace=${namespace}`).catch((error: Error) => {
    if (!error.message.includes('not found')) throw error
  })
  await kubectlIn('', 'delete', 'namespace', namespace, '--timeout=180s')
}

async function showWhatHappened(namespace: string): Promise<void> {
  const shown = [
    ['get', 'pods', '--output', 'wide'],
    ['get', 'events', '--sort-by=.lastTimestamp'],
    ['logs', '--selector', SERVERS, '--tail=200', '--prefix'],
  ]
  for (const args of shown) console.log(await kubectlIn(namespace, ...args).catch(String))
}
