import { RecordingStart } from '@berth/contracts/recording'
import { checksOf } from '../checks/compile.ts'

export const checks = checksOf({ recordingStart: RecordingStart })
