import { ControlError } from '../calls/operation.ts'
import { netErrorNumber } from './net-errors.ts'

/** That the browser got no answer, or not all of it. `name` is as Chromium says it, such as ERR_TIMED_OUT. */
export function requestFailed(message: string, name?: string): ControlError {
  const number = name === undefined ? undefined : netErrorNumber(name)
  const fields = {
    ...(number !== undefined && { net_error: number }),
    ...(name !== undefined && { net_error_name: name }),
  }
  return new ControlError('request_failed', `Cannot get an answer: ${message}`, { fields })
}
