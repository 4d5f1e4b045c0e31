import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** What the child says next; or the end of the process, which would otherwise be waited for in vain. */
export async function nextMessage(child: ChildProcess): Promise<unknown> {
  const abort = new AbortController()
  try {
    return await Promise.race([
      once(child, 'message', { signal: abort.signal }).then(([message]: unknown[]) => message),
      once(child, 'exit', { signal: abort.signal }).then(([code]) => {
        throw new Error(`The baseline process ended with code ${String(code)}`)
      }),
    ])
  } finally {
    abort.abort()
  }
}
