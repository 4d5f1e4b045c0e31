import { chmod, chown, readFile, stat } from 'node:fs/promises'
import { cleanPath } from './disk/paths.ts'
import { refuse } from './disk/refusal.ts'

export interface Permissions {
  readonly path: string
  readonly mode: string
  readonly owner?: string
  readonly group?: string
}

/** An instance has only one account. Clients that do not know this ask for other owners, which are ignored. */
export async function setPermissions({ path: text, mode, owner, group }: Permissions): Promise<void> {
  const path = cleanPath(text)
  const stats = await stat(path).catch(refuse(path))
  const uid = owner === undefined ? stats.uid : await idOf(owner, '/etc/passwd')
  const gid = group === undefined ? stats.gid : await idOf(group, '/etc/group')
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid).catch(() => {})
  // After chown, which clears some mode bits.
  await chmod(path, Number.parseInt(mode, 8)).catch(refuse(path))
}

async function idOf(name: string, table: string): Promise<number | undefined> {
  if (/^\d{1,10}$/.test(name)) return Number(name)
  const lines = (await readFile(table, 'utf8')).split('\n').map((line) => line.split(':'))
  const id = lines.find(([known]) => known === name)?.[2]
  return id === undefined ? undefined : Number(id)
}
