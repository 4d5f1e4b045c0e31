import {
  execProcess,
  killProcess,
  resizeProcess,
  spawnProcess,
  writeProcessStdin,
} from '@berth/contracts/processes'
import { checksOf } from '../../checks/compile.ts'

// Lengths count what they count on the server, so that no body passes there and fails here.
export const checks = checksOf(
  {
    execProcess: execProcess.body,
    killProcess: killProcess.body,
    resizeProcess: resizeProcess.body,
    spawnProcess: spawnProcess.body,
    writeProcessStdin: writeProcessStdin.body,
  },
  { lengths: 'characters' },
)
