// Only for the build and for sources that run unbundled, as in tests. build.ts replaces every `*.checks.ts` by what
// generate.ts makes of its schemas, so no instance carries a schema or a compiler of schemas.
import { Ajv, type Options } from 'ajv'
import type { Static, TSchema } from 'typebox'
import type { Check } from './check.ts'

const options: Options = {
  strict: true,
  allowUnionTypes: true,
  // Otherwise each check logs that the option `unicode` is deprecated.
  logger: false,
}

/** What a length counts. */
export type Lengths = keyof typeof optionsFor

export const optionsFor = {
  /** A length is that of the JavaScript string, so it bounds the memory. */
  strings: { ...options, unicode: false },
  /** A length is the number of characters, and patterns know Unicode, as in the server's own checks. */
  characters: { ...options, unicode: true },
} as const satisfies Record<string, Options>

export type Checks<Schemas> = {
  readonly [Name in keyof Schemas]: Check<Schemas[Name] extends TSchema ? Static<Schemas[Name]> : never>
}

/** What generate.ts reads of a check. */
export interface CheckSource {
  readonly schema: object
  readonly lengths: Lengths
}

/** The checks of a file, by name; each is compiled when it is first used. */
export function checksOf<Schemas extends Record<string, TSchema>>(
  schemas: Schemas,
  { lengths = 'strings' }: { lengths?: Lengths } = {},
): Checks<Schemas> {
  const entries = Object.entries(schemas).map(([name, schema]) => [name, lazily({ schema, lengths })])
  // SAFETY: there is one for each schema.
  return Object.fromEntries(entries) as Checks<Schemas>
}

function lazily(source: CheckSource): Check<unknown> {
  let compiled: Check<unknown> | undefined
  const check = (value: unknown): value is unknown => {
    compiled ??= new Ajv(optionsFor[source.lengths]).compile(source.schema) as Check<unknown>
    const isRight = compiled(value)
    lazy.errors = compiled.errors
    return isRight
  }
  const lazy: Check<unknown> = Object.assign(check, { errors: null, source })
  return lazy
}
