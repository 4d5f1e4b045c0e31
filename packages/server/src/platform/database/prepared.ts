// A query that is built and compiled once, however often it runs. Building one takes Kysely half as
// long again as the driver takes to run it, which is what the hot paths cannot afford.
import type { Compilable, CompiledQuery } from 'kysely'
import type { Db } from './schema.ts'

/** Stands for an argument while the query is built. */
class Argument {
  readonly index: number

  constructor(index: number) {
    this.index = index
  }
}

/** `build` sees stand-ins: it may place its arguments as values, and do nothing else with them. */
export function prepared<Args extends readonly unknown[], Row>(
  build: (db: Db, ...args: Args) => Compilable<Row>,
): (db: Db, ...args: Args) => Promise<Row[]> {
  let compiled: CompiledQuery<Row> | undefined
  return async (db, ...args) => {
    // SAFETY: a value of the right type is what the query will hold by the time it runs.
    compiled ??= build(db, ...(args.map((_, index) => new Argument(index)) as unknown as Args)).compile()
    const parameters = compiled.parameters.map((value) =>
      value instanceof Argument ? args[value.index] : value,
    )
    const { rows } = await db.executeQuery<Row>({ ...compiled, parameters })
    return rows
  }
}
