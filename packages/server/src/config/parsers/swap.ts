import { commaList } from './basic.ts'
import { SettingError } from './setting-error.ts'

const KINDS = ['auto', 'zram', 'file', 'off'] as const

/** Kinds of swap that the server makes, or the paths of devices that the operator allows. */
export function swapPlace(value: string): (typeof KINDS)[number] | readonly string[] {
  const kind = KINDS.find((each) => each === value)
  if (kind !== undefined) return kind
  const paths = commaList(value)
  const wrong = paths.find((path) => !path.startsWith('/'))
  if (paths.length === 0 || wrong !== undefined) {
    throw new SettingError(
      `must be ${KINDS.join(', ')}, or list swap devices such as /dev/sda2, but is "${value}"`,
    )
  }
  return paths
}
