import { BadInput } from '@berth/kit/bad-input'

export function refused(reason: string): BadInput {
  return new BadInput(`Cannot unpack the archive: ${reason}`)
}
