// This server's id, which stays the same over restarts: its sessions run on this host, and their rows name it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { newId } from '@berth/kit/ids'
import { writeFileDurably } from './durable-file.ts'

export async function readServerId(dataDir: string): Promise<string> {
  const file = join(dataDir, 'server-id')
  try {
    const id = readFileSync(file, 'utf8').trim()
    if (/^srv_[a-z0-9]{24}$/.test(id)) return id
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const id = newId('srv_')
  await writeFileDurably(file, `${id}\n`, { mode: 0o600 })
  return id
}
