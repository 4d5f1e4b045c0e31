// Moves the files of an app into the instance and out of it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { mkdir, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { openRegular } from '../control/files/disk/regular-file.ts'
import { checkRoom, StagedFile } from '../control/files/disk/staged-file.ts'
import { bodyOf } from '../control/files/disk/write.ts'
import { unpack } from '../control/files/zip/unpack.ts'
import type { Places } from './workers/places.ts'
import { spawnAsUser } from '../user/user.ts'

// Invocations read the files with a uid that owns none of them.
const UNPACK = `tar -C "$1" -xzf - --no-same-owner && chmod -R a+rX "$1"`

export async function unpackSource(request: IncomingMessage, { root, home }: Places, signal: AbortSignal) {
  using staged = StagedFile.create(home, { for: 'the archive' })
  await staged.fill(bodyOf(request), { for: 'the archive' })
  await empty(root)
  const { handle, stats } = await openRegular(staged.path)
  try {
    await unpack({
      archive: handle,
      size: stats.size,
      into: root,
      checkRoom: (bytes) => checkRoom(home, bytes, { for: 'the files in the archive' }),
      signal,
    })
  } finally {
    await handle.close()
  }
}

/** Uses tar, which keeps links and modes. Compresses for speed, not for size. */
export async function packFiles({ root }: Places, response: ServerResponse): Promise<void> {
  const tar = spawnAsUser('/bin/sh', ['-c', 'tar -C "$1" -cf - . | gzip -1', 'sh', root], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  response.writeHead(200)
  try {
    await pipeline(tar.stdout!, response)
  } finally {
    tar.kill('SIGKILL')
  }
}

export async function unpackFiles(request: IncomingMessage, { root }: Places): Promise<void> {
  await empty(root)
  const tar = spawnAsUser('/bin/sh', ['-c', UNPACK, 'sh', root], {
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  let words = ''
  tar.stderr!.on('data', (chunk: Buffer) => (words = (words + chunk.toString()).slice(0, 2000)))
  const ended = new Promise<number | null>((resolve) => tar.once('close', (code) => resolve(code)))
  await pipeline(request, tar.stdin!).catch(() => {})
  const code = await ended
  if (code !== 0) throw new Error(`Cannot unpack the files of the app: ${words || `tar ended with ${code}`}`)
}

async function empty(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { mode: 0o755 })
}
