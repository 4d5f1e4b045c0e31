// Look-ups of the same event loop turn become one statement. Under load, one statement for each
// request would cost more than the rest of the request.
import type { Db } from './schema.ts'

const MAX_KEYS = 100

interface Waiting<Row> {
  readonly keys: string[]
  readonly rows: Promise<Map<string, Row>>
}

/** Finds one row by its key; `find` finds the rows of many keys. Do not use it in a transaction, whose statements must stay in order. */
export function lookUp<Row>(
  find: (db: Db, keys: readonly string[]) => Promise<Map<string, Row>>,
): (db: Db, key: string) => Promise<Row | undefined> {
  const waitingOn = new WeakMap<Db, Waiting<Row>>()

  function gather(db: Db): Waiting<Row> {
    const keys: string[] = []
    const rows = new Promise<Map<string, Row>>((resolve, reject) => {
      // Runs after all input of this turn has been read.
      setImmediate(() => {
        if (waitingOn.get(db) === waiting) waitingOn.delete(db)
        find(db, keys).then(resolve, reject)
      })
    })
    const waiting = { keys, rows }
    waitingOn.set(db, waiting)
    return waiting
  }

  return async (db, key) => {
    const known = waitingOn.get(db)
    const waiting = known && known.keys.length < MAX_KEYS ? known : gather(db)
    waiting.keys.push(key)
    return (await waiting.rows).get(key)
  }
}
