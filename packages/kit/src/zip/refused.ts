import { BadInput } from '../bad-input.ts'

export function refused(reason: string): BadInput {
  return new BadInput(`Cannot unpack the archive: ${reason}`)
}
