// There is no window manager, so the buttons of a dialog larger than the screen would be below the edge, out of
// the mouse's reach. So windows are resized to fit as soon as their size is known.
import type { Bounds, XConnection } from './x-connection.ts'

const CREATE_NOTIFY = 16
const CONFIGURE_NOTIFY = 22

export function keepOnScreen(x: XConnection): void {
  x.on(CREATE_NOTIFY, (bytes) => fit(x, windowAt(bytes, { bounds: 12, overridesRedirect: 22 })))
  x.on(CONFIGURE_NOTIFY, (bytes) => fit(x, windowAt(bytes, { bounds: 16, overridesRedirect: 26 })))
}

interface Window extends Bounds {
  readonly id: number
  /** True for menus and the like, which place themselves. */
  readonly overridesRedirect: boolean
}

function windowAt(bytes: Buffer, at: { bounds: number; overridesRedirect: number }): Window {
  return {
    id: bytes.readUInt32LE(8),
    left: bytes.readInt16LE(at.bounds),
    top: bytes.readInt16LE(at.bounds + 2),
    width: bytes.readUInt16LE(at.bounds + 4),
    height: bytes.readUInt16LE(at.bounds + 6),
    overridesRedirect: bytes[at.overridesRedirect] === 1,
  }
}

function fit(x: XConnection, { id, overridesRedirect, left, top, width, height }: Window): void {
  const { size, root } = x
  if (id === root || overridesRedirect || (width <= size.width && height <= size.height)) return
  const fitting = { width: Math.min(width, size.width), height: Math.min(height, size.height) }
  const bounds = {
    left: Math.max(0, Math.min(left, size.width - fitting.width)),
    top: Math.max(0, Math.min(top, size.height - fitting.height)),
    ...fitting,
  }
  // The window may be gone.
  x.configure(id, bounds).catch(() => {})
}
