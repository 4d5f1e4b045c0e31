// The agent's log is its stderr, and what is kept of it for who asks. Nobody may be reading it, so a write
// that fails is no failure.
import { ServiceLog } from './control/logs/service-log.ts'
import { secrets } from './secrets.ts'

export const agentLog = new ServiceLog()

process.stderr.on('error', () => {})

export function log(message: string, error?: unknown): void {
  const cause = error instanceof Error ? `: ${error.message}` : ''
  const line = secrets.redact(message + cause)
  agentLog.add(line)
  process.stderr.write(`${new Date().toISOString()} ${line}\n`)
}
