// Paths of the tenant's files. The server validates paths in queries and JSON, but forwards forms unread.
import { readFile, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { ControlError } from '../../calls/operation.ts'
import { isMissing, refuse } from './refusal.ts'

const MAX_PATH_LENGTH = 4096

/** Resolves `..` and the like; the file system follows links. */
export function cleanPath(path: string): string {
  if (!path.startsWith('/') || path.includes('\0') || path.length > MAX_PATH_LENGTH) {
    const shown = path.slice(0, 200).replaceAll('\0', '\\0')
    throw new ControlError(
      'bad_request',
      `Cannot use "${shown}": a path is absolute, such as "/home/kernel/x"`,
    )
  }
  return resolve(path)
}

/** The nearest existing parent, where a file for this path can be staged. */
export async function nearestDirectory(path: string): Promise<string> {
  for (let directory = dirname(path); ; directory = dirname(directory)) {
    const stats = await stat(directory).catch((error: unknown) => {
      if (!isMissing(error)) return refuse(path)(error)
      return undefined
    })
    if (stats?.isDirectory()) return directory
    if (stats) throw new ControlError('conflict', `Cannot use "${path}": "${directory}" is a file`)
  }
}

/** The instance's own mount points at or below the path. */
export async function mountsIn(path: string): Promise<string[]> {
  const table = await readFile('/proc/self/mountinfo', 'utf8')
  const points = table.split('\n').flatMap((line) => {
    const point = line.split(' ')[4]
    return point === undefined ? [] : [point.replaceAll(/\\(\d{3})/g, (_all, code: string) => octal(code))]
  })
  const below = path === '/' ? '/' : `${path}/`
  return points.filter((point) => point === path || point.startsWith(below))
}

const octal = (code: string) => String.fromCharCode(Number.parseInt(code, 8))

const TEMPORARY = /^\.berth-[a-z0-9]+\.part$/

/** For files that are not complete yet; watches ignore them. */
export function temporaryName(): string {
  return `.berth-${randomText()}${randomText()}.part`
}

const randomText = () => Math.random().toString(36).slice(2)

export function isTemporary(name: string): boolean {
  return TEMPORARY.test(name)
}
