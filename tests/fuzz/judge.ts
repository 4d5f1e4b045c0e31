// Checks an answer against the document.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { assertErrorShape } from '../conformance/error-answer.ts'
import type { Answer } from '../conformance/http-exchange.ts'
import type { ApiDocument, DescribedOperation, DescribedResponse } from './document.ts'
import { toExchange, type FuzzRequest } from './request.ts'

const DOCUMENT = 'document'
/**
 * Valid answers to a request without an operation: it is malformed, or the path does not exist. 401: its path is that of
 * an operation with an empty id, and another request has deleted its key.
 */
const UNMATCHED = new Set([400, 401, 404, 405, 413, 415])

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.(\d{3}|\d{9})Z$/

const headerTypes: Record<string, RegExp> = { boolean: /^(true|false)$/, integer: /^\d+$/, string: /./ }

/** A provider that got a wrong token from a request, or that does not exist. */
const isFaultOfOthers = ({ status, json }: Answer) =>
  status === 502 && (json as { code?: unknown } | undefined)?.code === 'provider_unreachable'

export class Judge {
  readonly #document: ApiDocument
  readonly #ajv: Ajv2020
  readonly #validators = new Map<string, ValidateFunction>()

  constructor(document: ApiDocument) {
    this.#document = document
    this.#ajv = new Ajv2020({ strict: false, allErrors: false })
    this.#ajv.addFormat(
      'date-time',
      (text: string) => TIMESTAMP.test(text) && !Number.isNaN(Date.parse(text)),
    )
    this.#ajv.addFormat('binary', true)
    this.#ajv.addSchema(closed(document.root) as object, DOCUMENT)
  }

  operationOf(request: FuzzRequest): DescribedOperation | undefined {
    return this.#document.match(request.method, toExchange(request).path)
  }

  /** What is wrong with the answer; undefined if nothing is. */
  complaint(request: FuzzRequest, answer: Answer): string | undefined {
    const { status } = answer
    if (status >= 500 && !isFaultOfOthers(answer)) return `is a server error: ${status}`
    if (status >= 400 && request.method !== 'HEAD') {
      try {
        assertErrorShape(answer)
      } catch (error) {
        return `does not have the shape of an error: ${(error as Error).message.slice(0, 300)}`
      }
    }
    if (request.alsoAllowed.has(status)) return undefined
    const operation = this.operationOf(request)
    if (!operation)
      return UNMATCHED.has(status) ? undefined : `has status ${status}, but nothing is served there`
    const described = operation.responses.get(status)
    if (!described) return `has status ${status}, which the document does not declare`
    return this.#complainAboutHeaders(described, answer) ?? this.#complainAboutBody(described, answer)
  }

  complaintAboutEvent(event: unknown): string | undefined {
    const validate = this.#validator('#/components/schemas/TelemetryEvent')
    if (validate(event)) return undefined
    return `${this.#ajv.errorsText(validate.errors)} in ${JSON.stringify(event).slice(0, 2_000)}`
  }

  #complainAboutHeaders({ headers }: DescribedResponse, answer: Answer): string | undefined {
    for (const [name, { schema }] of Object.entries(headers)) {
      const value = answer.headers[name]
      if (value !== undefined && !headerTypes[schema.type]?.test(String(value))) {
        return `has header ${name}: ${String(value)}, which is no ${schema.type}`
      }
    }
    return undefined
  }

  #complainAboutBody({ contentType, schemaPointer }: DescribedResponse, answer: Answer): string | undefined {
    if (!contentType) return answer.text === '' ? undefined : 'has a body, but none is declared'
    // A proxied answer has any type, or none.
    if (contentType === '*/*') return undefined
    const actual = answer.headers['content-type']?.split(';')[0]
    if (actual !== contentType) return `is ${actual}, but ${contentType} is declared`
    if (!schemaPointer) return undefined
    const validate = this.#validator(schemaPointer)
    for (const value of valuesIn(contentType, answer)) {
      if (validate(value)) continue
      return `does not conform: ${this.#ajv.errorsText(validate.errors)} in ${answer.text.slice(0, 300)}`
    }
    return undefined
  }

  #validator(pointer: string): ValidateFunction {
    const existing = this.#validators.get(pointer)
    if (existing) return existing
    const validate = this.#ajv.compile({ $ref: DOCUMENT + pointer })
    this.#validators.set(pointer, validate)
    return validate
  }
}

/** What the schema of an answer describes: a stream has it once for each event. */
function valuesIn(contentType: string, { json, text }: Answer): unknown[] {
  if (contentType === 'application/json') return [json]
  if (contentType !== 'text/event-stream') return []
  const lines = text.split('\n').filter((line) => line.startsWith('data: '))
  return lines.map((line) => JSON.parse(line.slice('data: '.length)) as unknown)
}

/** The document with additional properties forbidden: an undocumented field is a leak. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed)
  if (typeof node !== 'object' || node === null) return node
  const copy = Object.fromEntries(Object.entries(node).map(([name, child]) => [name, closed(child)]))
  const isObjectSchema = copy['type'] === 'object' && typeof copy['properties'] === 'object'
  return isObjectSchema && !('additionalProperties' in copy) ? { ...copy, additionalProperties: false } : copy
}
