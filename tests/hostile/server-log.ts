import assert from 'node:assert/strict'
import type { TestServer } from '../fixtures/server.ts'

/** Whatever came in, the server found no fault of its own. */
export function assertNoFaultLogged(server: TestServer): void {
  const faults = server
    .output()
    .split('\n')
    .filter((line) => /"level":"(error|fatal)"|UnhandledPromiseRejection|Warning:/.test(line))
  assert.deepEqual(faults, [])
}
