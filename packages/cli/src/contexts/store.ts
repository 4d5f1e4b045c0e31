// The servers that a person uses, by name, in one file that only this person can read: it holds keys.
import { randomUUID } from 'node:crypto'
import { chmod, mkdir, open, rename, rm, writeFile, type FileHandle } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { Failure } from '../basics/failure.ts'

export interface Context {
  readonly url: string
  readonly key?: string
  readonly project?: string
}

export interface Contexts {
  readonly current?: string
  readonly contexts: Readonly<Record<string, Context>>
}

export function contextsFile(env: NodeJS.ProcessEnv = process.env): string {
  const base = env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config')
  return join(base, 'berth', 'contexts.json')
}

export async function readContexts(file = contextsFile()): Promise<Contexts> {
  let text: string
  try {
    await using opened = await open(file)
    await keepPrivate(opened, { mode: 0o600, path: file })
    text = await opened.readFile('utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { contexts: {} }
    throw error
  }
  try {
    const { current, contexts } = JSON.parse(text) as Partial<Contexts>
    if (typeof contexts !== 'object' || contexts === null) throw new Error('it has no contexts')
    return { ...(current !== undefined && { current }), contexts }
  } catch (cause) {
    throw new Failure(`Cannot read ${file}: ${(cause as Error).message}`, {
      remedy: 'Correct the file, or remove it and log in again',
      cause,
    })
  }
}

/** Takes from others what they must not have, whoever gave it to them: a copy, a restore, an editor. */
async function keepPrivate(
  opened: FileHandle,
  { mode, path }: { mode: number; path: string },
): Promise<void> {
  if (((await opened.stat()).mode & 0o077) === 0) return
  try {
    await opened.chmod(mode)
  } catch (cause) {
    throw new Failure(`Cannot use ${path}: others may read it, and it is not yours to change`, {
      remedy: `Let its owner run: chmod ${mode.toString(8)} ${path}`,
      cause,
    })
  }
}

async function keepDirectoryPrivate(path: string): Promise<void> {
  await using opened = await open(path)
  await keepPrivate(opened, { mode: 0o700, path })
}

/** A new file takes the place of the old one, so that it is whole at every moment. */
export async function writeContexts(contexts: Contexts, file = contextsFile()): Promise<void> {
  const directory = dirname(file)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await keepDirectoryPrivate(directory)
  const next = `${file}.${randomUUID()}`
  try {
    await writeFile(next, `${JSON.stringify(contexts, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
    // The umask cannot widen it; a strict one must not narrow it either.
    await chmod(next, 0o600)
    await rename(next, file)
  } finally {
    await rm(next, { force: true })
  }
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/i

export function checkName(name: string): string {
  if (NAME.test(name)) return name
  throw new Failure(`Cannot use "${name}" as the name of a context`, {
    exitCode: 2,
    remedy: 'Use letters, digits, dots, dashes and underscores, at most 63',
  })
}

export async function putContext(
  name: string,
  context: Context,
  { isCurrent, file }: { isCurrent: boolean; file?: string },
): Promise<void> {
  checkName(name)
  const { current, contexts } = await readContexts(file)
  const chosen = isCurrent || current === undefined ? name : current
  await writeContexts({ current: chosen, contexts: { ...contexts, [name]: context } }, file)
}
