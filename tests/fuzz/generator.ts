// Valid requests, from the document and from existing resources.
import { formBody, type FormParts } from '../conformance/form-body.ts'
import { TAR_END, tarHead } from '@berth/codecs/tar/writer'
import type { ApiDocument, DescribedOperation } from './document.ts'
import type { FieldsSchema } from '../conformance/bad-values.ts'
import { mutate } from './mutations.ts'
import type { Random } from '../fixtures/random.ts'
import { encode, type FuzzRequest } from './request.ts'
import { Values } from './values.ts'
import { partIn, referredIn, resourceOf, type KnownPart, type World } from './world.ts'

const MUTATED_SHARE = 0.45

/** What the document cannot express: a form, or a value that depends on the environment. */
export interface Sample {
  readonly form?: FormParts
  readonly query?: [name: string, value: string][]
  /** Fields of a body. */
  readonly body?: Readonly<Record<string, unknown>>
}

/** The smallest valid user-data directory. */
const ARCHIVE = Buffer.concat([
  tarHead({ path: 'Default', kind: 'directory', size: 0, mtimeSeconds: 0 }),
  TAR_END,
])

export class Generator {
  readonly #document: ApiDocument
  readonly #random: Random
  readonly #world: World
  readonly #values: Values
  readonly #driverKeys: readonly string[]
  readonly #samples: Readonly<Record<string, Sample>>

  constructor(options: {
    document: ApiDocument
    random: Random
    world: World
    driverKeys: readonly string[]
    /** By operation id. */
    samples: Readonly<Record<string, Sample>>
  }) {
    this.#document = options.document
    this.#random = options.random
    this.#world = options.world
    this.#driverKeys = options.driverKeys
    this.#samples = options.samples
    this.#values = new Values(options.random, options.world)
  }

  next(): FuzzRequest {
    const request = this.#valid(this.#chooseOperation())
    if (!this.#random.chance(MUTATED_SHARE)) return request
    const count = this.#random.chance(0.25) ? 2 : 1
    for (let done = 0; done < count; done++) mutate(request, { random: this.#random, world: this.#world })
    return request
  }

  /**
   * Pages that never change are chosen less often. Deletes are chosen more often when much exists; otherwise a long
   * run would only grow.
   */
  #chooseOperation(): DescribedOperation {
    const random = this.#random
    const operation = random.pick(this.#document.operations)
    if (operation.isOpen && random.chance(0.8)) return this.#chooseOperation()
    const resource = resourceOf(operation.path)
    if (operation.method !== 'POST' || !resource || !this.#world.isCrowded(resource)) return operation
    const deletes = this.#document.operations.filter(
      ({ method, path }) => method === 'DELETE' && resourceOf(path) === resource,
    )
    return deletes.length > 0 && random.chance(0.9) ? random.pick(deletes) : operation
  }

  #valid(operation: DescribedOperation): FuzzRequest {
    const random = this.#random
    const kind = partIn(operation.path)
    const part = kind === undefined ? undefined : this.#world.pickPart(kind, random)
    const reference = part?.parent ?? this.#reference(operation)
    const path = operation.path.replace(/\{\w+\}/, encode(reference ?? ''))
    const wanted = operation.parameters.filter(
      ({ in: place, required }) => place === 'query' && (required || random.chance(0.25)),
    )
    const query = wanted
      .map(({ name, schema }): [string, string] => [name, String(this.#values.value(name, schema))])
      .filter(([, value]) => value !== '')
    const hasBody = operation.body && (operation.isBodyRequired || random.chance(0.9))
    const request: FuzzRequest = {
      operation,
      method: operation.method,
      reference,
      path: part ? path.replace(/\{\w+\}/, encode(part.id)) : path,
      query,
      headers: [],
      key: operation.isOpen && random.chance(0.7) ? undefined : this.#key(),
      body: hasBody ? this.#body(operation.body, kind === 'leases' ? part : undefined) : undefined,
      ...(operation.id === 'importProfile' && { rawBody: ARCHIVE }),
      mutations: [],
      alsoAllowed: new Set(),
    }
    this.#addHeaders(request)
    if (request.rawBody) request.headers.push(['Content-Type', 'application/octet-stream'])
    if (random.chance(0.8)) this.#addSample(request)
    return request
  }

  #body(schema: FieldsSchema, lease: KnownPart | undefined): Record<string, unknown> {
    return { ...this.#values.fields(schema), ...(lease && { session_id: lease.id }) }
  }

  #addSample(request: FuzzRequest): void {
    const { form, query, body: fields } = this.#samples[request.operation.id] ?? {}
    if (fields) request.body = { ...(request.body as object), ...fields }
    if (query) request.query = query.map(([name, value]) => [name, value])
    if (!form) return
    const { headers, body } = formBody(form)
    for (const [name, value] of headers) request.headers.push([name, value])
    request.rawBody = body!
  }

  #reference(operation: DescribedOperation): string | undefined {
    const resource = referredIn(operation.path)
    if (!resource) return undefined
    const known = this.#world.pick(resource, this.#random)
    if (!known) return 'unknown'
    // Only these can also be found by name.
    const hasNames = ['projects', 'browsers', 'browser_pools', 'profiles', 'credentials'].includes(resource)
    return hasNames && known.name && this.#random.chance(0.3) ? known.name : known.id
  }

  #key(): string {
    const random = this.#random
    if (random.chance(0.85)) return random.pick(this.#driverKeys)
    return this.#world.pickKey(random) ?? random.pick(this.#driverKeys)
  }

  #addHeaders({ operation, headers }: FuzzRequest): void {
    const random = this.#random
    const takes = (name: string) => operation.parameters.some((parameter) => parameter.name === name)
    if (takes('X-Kernel-Project-Id') && random.chance(0.05)) {
      const project = this.#world.pick('projects', random)
      if (project) headers.push(['X-Kernel-Project-Id', project.id])
    }
    if (takes('Idempotency-Key') && random.chance(0.1)) {
      const key = `fuzz-${random.integer(0, 1e12)}`
      this.#world.rememberIdempotencyKey(key)
      headers.push(['Idempotency-Key', key])
    }
  }
}
