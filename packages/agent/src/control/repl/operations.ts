import { checked } from '../../checks/check.ts'
import type { ControlOperation } from '../calls/operation.ts'
import type { Repl } from './repl.ts'
import { checks } from './repl.checks.ts'

const DEFAULT_SECONDS = 60

export function replOperations(repl: Repl): readonly ControlOperation[] {
  return [
    {
      method: 'POST',
      path: '/repl',
      handle: ({ body, signal }) => {
        const given = checked(checks.executeRepl, body)
        const { code, reset = false, timeout_sec: seconds = DEFAULT_SECONDS } = given
        return repl.run({ code, isReset: reset, timeoutMs: seconds * 1000, signal })
      },
    },
  ]
}
