import { executeRepl } from '@berth/contracts/repl'
import { checksOf } from '../../checks/compile.ts'

// Lengths count what they count on the server, so that no body passes there and fails here.
export const checks = checksOf({ executeRepl: executeRepl.body }, { lengths: 'characters' })
