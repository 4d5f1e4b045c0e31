// Files to and from a session, with the places of scp: ID:/absolute/path.
import { createWriteStream, existsSync, statSync } from 'node:fs'
import { mkdtemp, mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, posix } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Api } from '../api/api.ts'
import { zipDirectory } from '../files/archive.ts'
import type { Context } from '../command/context.ts'
import { saveAnswer, saveFile } from '../command/save-answer.ts'
import { usage } from '../basics/failure.ts'
import { progress } from '../output/progress.ts'
import { openSource } from '../files/source.ts'
import { unzip } from '../files/unzip.ts'

export interface Place {
  /** Undefined: on this machine. */
  readonly id: string | undefined
  readonly path: string
}

export function placeOf(text: string): Place {
  const match = /^([^/:]+):(.*)$/.exec(text)
  if (!match) return { id: undefined, path: text }
  const [, id, path] = match as unknown as [string, string, string]
  if (!path.startsWith('/'))
    throw usage(
      `Cannot copy "${text}": the path in a session must be absolute`,
      `Write it like ${id}:/tmp/file`,
    )
  return { id, path }
}

export async function run(context: Context): Promise<void> {
  const [from, to] = (context.args as [string, string]).map(placeOf) as [Place, Place]
  const isRecursive = context.options['recursive'] === true
  if ((from.id === undefined) === (to.id === undefined))
    throw usage(
      'Cannot copy: one of the places must be in a session, and the other one here',
      'Write it like ID:/tmp/file',
    )
  const api = await context.api()
  const copy = { context, api, from, to }
  const shown = await progress(context.terminal, `Copying ${from.path}`)
  try {
    if (to.id !== undefined) await (isRecursive ? uploadDirectory(copy) : uploadFile(copy))
    else await (isRecursive ? downloadDirectory(copy) : downloadFile(copy))
    shown.done(`Copied ${from.path} to ${to.path}`)
  } catch (error) {
    shown.clear()
    throw error
  }
}

interface Copy {
  readonly context: Context
  readonly api: Api
  readonly from: Place
  readonly to: Place
}

async function uploadFile({ api, from, to }: Copy): Promise<void> {
  if (from.path !== '-' && existsSync(from.path) && statSync(from.path).isDirectory())
    throw usage(`Cannot copy ${from.path}: it is a directory`, 'Add -r')
  const path = to.path.endsWith('/') ? posix.join(to.path, basename(from.path)) : to.path
  // The executable bit survives, the rest is up to the session.
  const mode =
    from.path !== '-' && existsSync(from.path) ? (statSync(from.path).mode & 0o777).toString(8) : undefined
  await api.answer('writeFile', {
    params: { id: to.id! },
    query: { path, ...(mode !== undefined && { mode: mode.padStart(3, '0') }) },
    body: Readable.toWeb(await openSource(from.path)),
    headers: { 'content-type': 'application/octet-stream' },
    maxRetries: 0,
  })
}

async function uploadDirectory({ api, from, to }: Copy): Promise<void> {
  if (!existsSync(from.path) || !statSync(from.path).isDirectory())
    throw usage(`Cannot copy ${from.path}: it is no directory`)
  const { bytes } = await zipDirectory(from.path)
  const form = new FormData()
  form.set('dest_path', to.path)
  form.set('zip_file', new File([new Uint8Array(bytes)], 'directory.zip'))
  await api.answer('uploadZip', { params: { id: to.id! }, body: form, maxRetries: 0 })
}

async function downloadFile({ context, api, from, to }: Copy): Promise<void> {
  const isInto = to.path.endsWith('/') || (existsSync(to.path) && statSync(to.path).isDirectory())
  const path = isInto ? join(to.path, posix.basename(from.path)) : to.path
  const response = await api.answer('readFile', { params: { id: from.id! }, query: { path: from.path } })
  if (path === '-') return saveAnswer(context, response, '-')
  await saveFile(Readable.fromWeb(response.body as never), path, context.signal)
}

/** The archive is of a session, so nothing in it is trusted; see unzip.ts. */
async function downloadDirectory({ context, api, from, to }: Copy): Promise<void> {
  const response = await api.answer('downloadDirZip', {
    params: { id: from.id! },
    query: { path: from.path },
  })
  const directory = await mkdtemp(join(tmpdir(), 'berth-cp-'))
  try {
    const archive = join(directory, 'archive.zip')
    await pipeline(Readable.fromWeb(response.body as never), createWriteStream(archive), {
      signal: context.signal,
    })
    await mkdir(to.path, { recursive: true })
    await unzip(archive, to.path, context.signal)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
