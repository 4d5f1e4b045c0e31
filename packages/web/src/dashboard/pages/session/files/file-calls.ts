// What the tab does with files.
import type { Kernel } from '@onkernel/sdk'

export interface FileEntry {
  readonly name: string
  readonly path: string
  readonly size_bytes: number
  readonly is_dir: boolean
  readonly mod_time: string
}

export async function listFolder(
  client: Kernel,
  id: string,
  path: string,
  signal: AbortSignal,
): Promise<FileEntry[]> {
  const found = (await client.browsers.fs.listFiles(id, { path }, { signal })) as FileEntry[]
  return found.toSorted(
    (one, other) => Number(other.is_dir) - Number(one.is_dir) || one.name.localeCompare(other.name),
  )
}

export const join = (folder: string, name: string) => `${folder === '/' ? '' : folder}/${name}`
export const parentOf = (path: string) => path.slice(0, path.lastIndexOf('/')) || '/'
