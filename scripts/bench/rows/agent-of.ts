import assert from 'node:assert/strict'
import { instancePaths } from '@berth/contracts/link'
import { commandOf } from '../measure/processes.ts'

/** The agent among the processes of an instance. */
export function agentOf(pids: readonly number[]): number {
  const agents = pids.filter((pid) => commandOf(pid).startsWith(`${instancePaths.node} `))
  assert.equal(agents.length, 1, 'an instance has one agent')
  return agents[0]!
}
