import type { ControlOperation } from '../calls/operation.ts'
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

/** The handlers are loaded with the first call. */
export function computerOperations(load: () => Promise<ComputerHandlers>): readonly ControlOperation[] {
  let handlers: Promise<ComputerHandlers> | undefined
  return paths.map((path) => ({
    method: 'POST',
    path: `/computer/${path}`,
    handle: async (call) => (await (handlers ??= load()))[path](call),
  }))
}
