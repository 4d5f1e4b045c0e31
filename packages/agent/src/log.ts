// The agent's log is its stderr. Nobody may be reading it, so a write that fails is no failure.
process.stderr.on('error', () => {})

export function log(message: string, error?: unknown): void {
  const cause = error instanceof Error ? `: ${error.message}` : ''
  process.stderr.write(`${new Date().toISOString()} ${message}${cause}\n`)
}
