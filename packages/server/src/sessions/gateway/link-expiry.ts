// A link has a time limit, and what was opened with it ends with it.

/** The maximum of setTimeout. A link that lives longer outlives its session. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

/** Calls `expire` at that time, in milliseconds since 1970, unless disposed before. */
export function atExpiry(expiresAt: number, expire: () => void): Disposable {
  const left = expiresAt - Date.now()
  const timer = left < MAX_TIMEOUT_MS ? setTimeout(expire, left).unref() : undefined
  return { [Symbol.dispose]: () => clearTimeout(timer) }
}
