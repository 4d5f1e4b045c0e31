import type { Region } from '@berth/contracts/computer'
import { ControlError } from '../../calls/operation.ts'
import type { Device, Point } from '../device/device.ts'

export function checkOnScreen({ size: { width, height } }: Device, { x, y }: Point): void {
  if (x < width && y < height) return
  throw new ControlError('bad_request', `coordinates exceed screen bounds (max: ${width}x${height})`)
}

/** Defaults to the whole screen. */
export function regionOn({ size: { width, height } }: Device, region: Region | undefined): Region {
  if (!region) return { x: 0, y: 0, width, height }
  if (region.x + region.width <= width && region.y + region.height <= height) return region
  throw new ControlError('bad_request', `region exceeds screen bounds (max: ${width}x${height})`)
}
