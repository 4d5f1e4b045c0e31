import assert from 'node:assert/strict'
import type { TestServer } from '../fixtures/server.ts'

/** Asserts that the server logged no error of its own. */
export function assertNoFaultLogged(server: TestServer): void {
  const faults = server
    .output()
    .split('\n')
    .filter((line) => /"level":"(error|fatal)"|UnhandledPromiseRejection|Warning:/.test(line))
  assert.deepEqual(faults, [])
}
