// An extension as the API takes it: a directory is packed, an archive goes as it is.
import { existsSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { zipDirectory } from '../files/archive.ts'
import { usage } from '../basics/failure.ts'
import { fileFor } from '../files/source.ts'

/** What no browser loads. */
const LEFT_OUT = new Set(['node_modules', '.git', '__tests__', 'coverage', 'tests', 'logs'])

export async function extensionArchive(path: string): Promise<File> {
  if (!existsSync(path)) throw usage(`Cannot read ${path}: it does not exist`)
  if (!statSync(path).isDirectory()) return fileFor(path)
  if (!existsSync(join(path, 'manifest.json')))
    throw usage(`Cannot use ${path}: it has no manifest.json`, 'Name the directory of the built extension')
  const { bytes } = await zipDirectory(path, { leavesOut: (name) => LEFT_OUT.has(basename(name)) })
  return new File([new Uint8Array(bytes)], 'extension.zip')
}
