import { MAX_REFRESH_RATE, type BrowserViewport } from '@berth/contracts/browsers'
import type { Viewport } from './types.ts'

const DEFAULT = { width: 1920, height: 1080 }

/** Larger screens get fewer frames per second. */
const RATES = [
  { upTo: 1280 * 800, hz: 60 },
  { upTo: 1920 * 1200, hz: 25 },
  { upTo: Infinity, hz: 10 },
]
const GPU_RATE = 60

export function toViewport(asked: BrowserViewport | undefined, { gpu }: { gpu: boolean }): Viewport {
  const { width, height } = asked ?? DEFAULT
  const derived = gpu ? GPU_RATE : RATES.find(({ upTo }) => width * height <= upTo)!.hz
  return { width, height, refreshRate: Math.min(asked?.refresh_rate ?? derived, MAX_REFRESH_RATE) }
}
