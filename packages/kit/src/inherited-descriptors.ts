import { closeSync, readFileSync, readdirSync } from 'node:fs'

const O_CLOEXEC = 0o2000000
const STANDARD = 2

/**
 * Closes file descriptors that this process inherited. Otherwise child processes inherit them too, including those of
 * tenants. Node only closes the first few. Node opens its own descriptors with O_CLOEXEC, which tells them apart.
 */
export function closeInheritedDescriptors(): void {
  for (const name of readdirSync('/proc/self/fd')) {
    const descriptor = Number(name)
    if (descriptor <= STANDARD || !isInherited(descriptor)) continue
    try {
      closeSync(descriptor)
    } catch {
      // This descriptor was only open to read the directory.
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
