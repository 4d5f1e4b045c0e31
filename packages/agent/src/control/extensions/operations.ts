import type { ControlOperation } from '../calls/operation.ts'
import type { Extensions } from './extensions.ts'

export function extensionOperations(extensions: Extensions): readonly ControlOperation[] {
  return [{ method: 'POST', path: '/extensions', takesStream: true, handle: (call) => extensions.load(call) }]
}
