// Searches text and files for a secret in every encoding.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/** The encodings in which a secret might be stored. Its last part alone would be enough to use it. */
export function formsOf(key: string): Buffer[] {
  const secret = Buffer.from(key.split('_').at(-1)!)
  return [
    secret,
    Buffer.from(secret.toString('hex')),
    Buffer.from(secret.toString('base64').replaceAll('=', '').slice(0, -1)),
    Buffer.from(Buffer.from(key).toString('base64').replaceAll('=', '').slice(0, -1)),
    Buffer.from(secret.toString(), 'utf16le'),
  ]
}

export function holds(text: string | Buffer, key: string): boolean {
  const bytes = Buffer.from(text)
  return formsOf(key).some((form) => bytes.includes(form))
}

/** Files below a directory that contain the secret in any encoding. */
export function filesWith(directory: string, key: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => holds(contentsOf(path), key))
    .map((path) => relative(directory, path))
}

/** Empty if the file is gone: PostgreSQL replaces some of its own all the time. */
function contentsOf(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0)
    throw error
  }
}
