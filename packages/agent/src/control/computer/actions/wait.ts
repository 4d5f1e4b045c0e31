import { CALL_TIMEOUT_MS } from '@berth/contracts/computer-limits'
import { pause } from '@berth/kit/pause'
import { ControlError } from '../../calls/operation.ts'
import type { Device } from '../device/device.ts'

/** Waits until earlier steps have taken effect and the time has passed. Rejects when the caller leaves. */
export async function wait(device: Device, ms: number, signal: AbortSignal): Promise<void> {
  device.flush()
  if (ms > 0) await pause(ms, signal)
  signal.throwIfAborted()
}

/** Refuses actions that take longer than a call may last. */
export function checkDuration(what: string, ms: number): void {
  if (ms <= CALL_TIMEOUT_MS) return
  const [seconds, limit] = [ms, CALL_TIMEOUT_MS].map((each) => Math.ceil(each / 1000))
  throw new ControlError(
    'bad_request',
    `Cannot ${what}: it would take ${seconds} s, and a call may take ${limit} s`,
  )
}
