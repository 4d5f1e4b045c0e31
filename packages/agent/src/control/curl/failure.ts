import { ControlError } from '../calls/operation.ts'
import { netErrorNumber } from './net-errors.ts'

/** The browser got no response, or only a part of it. `name` is Chromium's error, such as ERR_TIMED_OUT. */
export function requestFailed(message: string, name?: string): ControlError {
  const number = name === undefined ? undefined : netErrorNumber(name)
  const fields = {
    ...(number !== undefined && { net_error: number }),
    ...(name !== undefined && { net_error_name: name }),
  }
  return new ControlError('request_failed', `Cannot get an answer: ${message}`, { fields })
}
