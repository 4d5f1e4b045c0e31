// Only for the build and for sources that run unbundled, as in tests. build.ts replaces every `*.checks.ts` by what
// generate.ts makes of its schemas, so no instance carries a schema or a compiler of schemas.
import { Ajv, type Options } from 'ajv'
import type { Static, TSchema } from 'typebox'
import type { Check } from './check.ts'

/** Lengths are those of JavaScript, and not of characters: a bound is on what is held. */
export const checkOptions: Options = {
  strict: true,
  allowUnionTypes: true,
  unicode: false,
  // It would say with every check that `unicode` is deprecated.
  logger: false,
}

export type Checks<Schemas> = {
  readonly [Name in keyof Schemas]: Check<Schemas[Name] extends TSchema ? Static<Schemas[Name]> : never>
}

/** The checks of a file, by name; each is compiled when it is first used. */
export function checksOf<Schemas extends Record<string, TSchema>>(schemas: Schemas): Checks<Schemas> {
  const entries = Object.entries(schemas).map(([name, schema]) => [name, lazily(schema)])
  // SAFETY: there is one for each schema.
  return Object.fromEntries(entries) as Checks<Schemas>
}

function lazily(schema: TSchema): Check<unknown> {
  let compiled: Check<unknown> | undefined
  const check = (value: unknown): value is unknown => {
    compiled ??= new Ajv(checkOptions).compile(schema) as Check<unknown>
    const isRight = compiled(value)
    lazy.errors = compiled.errors
    return isRight
  }
  const lazy: Check<unknown> = Object.assign(check, { errors: null, source: schema })
  return lazy
}
