// Builds and compiles a query once, however often it runs. Building takes Kysely 50% longer than
// running takes the driver, which is too slow for the hot paths.
import type { CompiledQuery } from 'kysely'
import type { Db } from './schema.ts'

/** Stands in for an argument while the query is built. */
class Argument {
  readonly index: number

  constructor(index: number) {
    this.index = index
  }
}

interface Built<Row> {
  compile(db: Db): CompiledQuery<Row>
}

/** `build` gets stand-ins: it may only use its arguments as values. */
export function prepared<Args extends readonly unknown[], Row>(
  build: (db: Db, ...args: Args) => Built<Row>,
): (db: Db, ...args: Args) => Promise<Row[]> {
  let compiled: CompiledQuery<Row> | undefined
  return async (db, ...args) => {
    // SAFETY: each stand-in is replaced by a value of the right type before the query runs.
    compiled ??= build(db, ...(args.map((_, index) => new Argument(index)) as unknown as Args)).compile(db)
    const parameters = compiled.parameters.map((value) =>
      value instanceof Argument ? args[value.index] : value,
    )
    const { rows } = await db.executeQuery<Row>({ ...compiled, parameters })
    return rows
  }
}
