import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** Resolves with the next message of the child; rejects if the process ends first. */
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
