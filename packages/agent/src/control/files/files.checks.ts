import {
  createDirectory,
  deleteDirectory,
  deleteFile,
  moveFile,
  setFilePermissions,
  startWatch,
} from '@berth/contracts/files'
import { checksOf } from '../../checks/compile.ts'

// Lengths count what they count on the server, so that no body passes there and fails here.
export const checks = checksOf(
  {
    createDirectory: createDirectory.body,
    deleteDirectory: deleteDirectory.body,
    deleteFile: deleteFile.body,
    moveFile: moveFile.body,
    setFilePermissions: setFilePermissions.body,
    startWatch: startWatch.body,
  },
  { lengths: 'characters' },
)
