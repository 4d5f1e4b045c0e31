import { ControlError } from '../../operation.ts'

export function refused(reason: string): ControlError {
  return new ControlError('bad_request', `Cannot unpack the archive: ${reason}`)
}
