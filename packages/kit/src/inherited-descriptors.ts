import { closeSync, readFileSync, readdirSync } from 'node:fs'

const O_CLOEXEC = 0o2000000
const STANDARD = 2

/**
 * Closes what whoever started this process left open. Children would inherit it, down to those of tenants; Node
 * sees to the first few by itself. What it opens is never passed on, which is how the two are told apart.
 */
export function closeInheritedDescriptors(): void {
  for (const name of readdirSync('/proc/self/fd')) {
    const descriptor = Number(name)
    if (descriptor <= STANDARD || !isInherited(descriptor)) continue
    try {
      closeSync(descriptor)
    } catch {
      // It was the one that the list was read by.
    }
  }
}

function isInherited(descriptor: number): boolean {
  try {
    const [, flags] = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))!
    return (Number.parseInt(flags!, 8) & O_CLOEXEC) === 0
  } catch {
    return false
  }
}
