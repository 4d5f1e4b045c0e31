// The swap devices of this machine, as its kernel lists them.
import { readFileSync } from 'node:fs'

const KB = 1024

export interface SwapDevice {
  readonly path: string
  readonly sizeBytes: number
  readonly usedBytes: number
}

/** `Filename Type Size Used Priority`, sizes in KiB; see proc_swaps(5). */
export function readSwapDevices(file = '/proc/swaps'): SwapDevice[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(1)
    .filter(Boolean)
    .map((line) => {
      const [path = '', , size, used] = line.trim().split(/\s+/)
      // A blank in a path is written as \040, and a file that was removed has a word more.
      return {
        path: path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
          String.fromCharCode(Number.parseInt(octal, 8)),
        ),
        sizeBytes: Number(size) * KB,
        usedBytes: Number(used) * KB,
      }
    })
}
