import { statSync } from 'node:fs'

/**
 * Whether the user has this file or directory. Node's existsSync and access ask on behalf of the agent's own uid, which
 * may not enter the user's home.
 */
export function pathExists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}
