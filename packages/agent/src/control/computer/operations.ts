import type { Chromium } from '../../chromium/chromium.ts'
import { unpack } from '../../packed.ts'
import type { ControlOperation } from '../operation.ts'
import type { ComputerHandlers } from './handlers.ts'

const paths = [
  'click_mouse',
  'move_mouse',
  'type',
  'press_key',
  'scroll',
  'drag_mouse',
  'batch',
  'screenshot',
  'cursor',
  'get_mouse_position',
  'clipboard/read',
  'clipboard/write',
] as const
export type ComputerPath = (typeof paths)[number]

export function computerOperations(chromium: Chromium): readonly ControlOperation[] {
  let handlers: Promise<ComputerHandlers> | undefined
  const load = async () => (await unpack('computer')).computerHandlers(chromium)
  return paths.map((path) => ({
    method: 'POST',
    path: `/computer/${path}`,
    handle: async (call) => (await (handlers ??= load()))[path](call),
  }))
}
