/** What the exit code says. Scripts rely on these numbers: never change one, only add. docs/cli.md lists them. */
export const exitCodes = {
  ok: 0,
  /** It was done and did not succeed, such as an invocation that failed; or the server had an error. */
  failed: 1,
  /** The command line is wrong: an unknown command or flag, a value that is refused. */
  usage: 2,
  /** No key, or a key that may not do this. */
  denied: 3,
  notFound: 4,
  /** The state of the resource does not allow it, or the name is in use. */
  conflict: 5,
  /** A limit is reached, or the server has no room; the same command may succeed later. */
  busy: 6,
  unreachable: 7,
  timedOut: 8,
  /** A person said no. */
  declined: 9,
  /** Ctrl-C: 128 and the number of the signal. */
  interrupted: 130,
} as const

export function exitCodeOfStatus(status: number): number {
  switch (status) {
    case 400:
    case 405:
    case 413:
    case 415:
    case 422:
      return exitCodes.usage
    case 401:
    case 403:
      return exitCodes.denied
    case 404:
    case 410:
      return exitCodes.notFound
    case 409:
      return exitCodes.conflict
    case 429:
    case 503:
    case 529:
      return exitCodes.busy
    case 408:
    case 504:
      return exitCodes.timedOut
    default:
      return exitCodes.failed
  }
}
