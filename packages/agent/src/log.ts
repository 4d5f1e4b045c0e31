// The agent's log is its stderr, and what is kept of it for who asks. Nobody may be reading it, so a write
// that fails is no failure.
import { ServiceLog } from './control/logs/service-log.ts'

export const agentLog = new ServiceLog()

process.stderr.on('error', () => {})

export function log(message: string, error?: unknown): void {
  const cause = error instanceof Error ? `: ${error.message}` : ''
  agentLog.add(message + cause)
  process.stderr.write(`${new Date().toISOString()} ${message}${cause}\n`)
}
