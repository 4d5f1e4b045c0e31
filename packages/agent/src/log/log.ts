// The agent logs to stderr and keeps recent lines for the logs API. Perhaps nobody reads stderr, so failed
// writes are ignored.
import { ServiceLog } from './service-log.ts'
import { secrets } from '../secrets/secrets.ts'

export const agentLog = new ServiceLog()

process.stderr.on('error', () => {})

export function log(message: string, error?: unknown): void {
  const cause = error instanceof Error ? `: ${error.message}` : ''
  const line = secrets.redact(message + cause)
  agentLog.add(line)
  process.stderr.write(`${new Date().toISOString()} ${line}\n`)
}
