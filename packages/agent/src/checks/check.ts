import { BadRequest } from '../requests/bad-request.ts'

/** The errors of Ajv. Its messages contain no values, which may be passwords. */
export interface CheckError {
  readonly keyword: string
  /** Such as /refs/0. */
  readonly instancePath: string
  readonly params: Readonly<Record<string, unknown>>
  readonly message?: string
}

export interface Check<T> {
  (value: unknown): value is T
  errors?: readonly CheckError[] | null | undefined
}

/** The body of a request, or a BadRequest that names the first wrong field and what it must be. */
export function checked<T>(check: Check<T>, body: unknown): T {
  if (check(body)) return body
  const [error] = check.errors ?? []
  throw new BadRequest(`Cannot read the request: ${error ? describe(error) : 'the body is invalid'}`)
}

function describe({ keyword, instancePath, params, message = 'is invalid' }: CheckError): string {
  const path = instancePath.slice(1).replaceAll('/', '.')
  const inside = (name: unknown) => (path === '' ? `"${String(name)}"` : `"${path}.${String(name)}"`)
  if (keyword === 'required') return `${inside(params['missingProperty'])} is missing`
  if (keyword === 'additionalProperties') return `${inside(params['additionalProperty'])} is unknown`
  if (path === '') return params['type'] === 'object' ? 'the body is not an object' : `the body ${message}`
  return `"${path}" ${message}`
}
