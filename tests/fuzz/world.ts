// The resources that earlier requests created, so that later requests can use them.
import { resourceCalled } from '../conformance/sample-request.ts'
import type { Random } from '../fixtures/random.ts'

export interface KnownRecord {
  readonly id: string
  readonly name?: string
  /** The secret of an API key, if known. */
  readonly key?: string
}

/** A resource that exists only below another one, such as a recording of a session. */
export interface KnownPart {
  /** Id or name of its parent. */
  readonly parent: string
  readonly id: string
}

const MAX_RECORDS = 80
const MAX_TOKENS = 50

export class World {
  readonly #records = new Map<string, Map<string, KnownRecord>>()
  readonly #parts = new Map<string, KnownPart[]>()
  readonly #tokens: string[] = []
  readonly #idempotencyKeys: string[] = []

  /** Learns from a 2xx answer which resources exist, by the words of its path. */
  learn(request: { method: string; template: string; reference: string | undefined }, answer: Learned): void {
    this.#learnPart(request, answer)
    const resource = resourceOf(request.template)
    if (!resource) return
    const records = this.#of(resource)
    if (request.method === 'DELETE' && request.reference !== undefined) {
      for (const { id, name } of records.values()) {
        if (id === request.reference || name === request.reference) records.delete(id)
      }
    }
    const record = answer.json as LearnedRecord | null | undefined
    const id = record?.id ?? record?.session_id ?? record?.invocation_id
    if (typeof id === 'string' && request.method !== 'GET') {
      records.set(id, { ...records.get(id), ...(record as KnownRecord), id })
    }
    for (const name of ['x-next-page-token', 'x-next-cursor']) {
      const token = answer.headers[name]
      if (typeof token === 'string') remember(this.#tokens, token)
    }
  }

  /** `POST /browsers/{id}/replays` returns a `replay_id`, and others an `id`; a lease is identified by its session. */
  #learnPart(
    { method, template, reference }: { method: string; template: string; reference: string | undefined },
    { json }: Learned,
  ): void {
    if (reference === undefined) return
    const answer = json as Record<string, unknown> | null | undefined
    const kind = template.endsWith('/acquire') ? 'lease' : /\}\/(\w+)s$/.exec(template)?.[1]
    if (method === 'POST' && kind !== undefined) {
      const id = answer?.[kind === 'lease' ? 'session_id' : `${kind}_id`] ?? answer?.['id']
      this.#addPart(`${kind}s`, reference, id)
    }
    // An import into a profile creates a version.
    if (template.endsWith('/archive')) this.#addPart('versions', reference, String(answer?.['version']))
  }

  #addPart(kind: string, parent: string, id: unknown): void {
    if (typeof id !== 'string') return
    const parts = this.#parts.get(kind) ?? []
    this.#parts.set(kind, parts)
    remember(parts, { parent, id })
  }

  pickPart(kind: string, random: Random): KnownPart | undefined {
    const parts = this.#parts.get(kind) ?? []
    return parts.length > 0 ? random.pick(parts) : undefined
  }

  isCrowded(resource: string): boolean {
    return this.#of(resource).size > MAX_RECORDS
  }

  pick(resource: string, random: Random): KnownRecord | undefined {
    const records = [...this.#of(resource).values()]
    return records.length > 0 ? random.pick(records) : undefined
  }

  pickKey(random: Random): string | undefined {
    return this.pick('api_keys', random)?.key
  }

  pickToken(random: Random): string | undefined {
    return this.#tokens.length > 0 ? random.pick(this.#tokens) : undefined
  }

  usedIdempotencyKey(random: Random): string | undefined {
    return this.#idempotencyKeys.length > 0 ? random.pick(this.#idempotencyKeys) : undefined
  }

  rememberIdempotencyKey(key: string): void {
    remember(this.#idempotencyKeys, key)
  }

  #of(resource: string): Map<string, KnownRecord> {
    const records = this.#records.get(resource) ?? new Map<string, KnownRecord>()
    this.#records.set(resource, records)
    return records
  }
}

type LearnedRecord = Partial<KnownRecord> & { session_id?: unknown; invocation_id?: unknown }

interface Learned {
  readonly json: unknown
  readonly headers: Readonly<Record<string, unknown>>
}

function remember<T>(list: T[], item: T): void {
  list.push(item)
  if (list.length > MAX_TOKENS) list.shift()
}

/** `/org/projects/{id}/limits` is about projects, and so is `/projects`; limits have no id. */
export function resourceOf(template: string): string | undefined {
  const beforeId = /([\w-]+)\/\{\w+\}(\/rotate)?$/.exec(template)
  if (beforeId) return resourceCalled(beforeId[1]!, template)
  return template.includes('{') ? undefined : resourceCalled(template.split('/').at(-1)!, template)
}

/** `/browsers/{id}/replays/{replay_id}` is about a recording of a session, and a release about a lease. */
export function partIn(template: string): string | undefined {
  if (template.endsWith('/release')) return 'leases'
  return /\}\/(\w+)\/\{\w+\}/.exec(template)?.[1]
}

export function referredIn(template: string): string | undefined {
  const word = /([\w-]+)\/\{\w+\}/.exec(template)?.[1]
  return word === undefined ? undefined : resourceCalled(word, template)
}
