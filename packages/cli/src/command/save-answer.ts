// Writes the bytes of an answer to a file or to stdout.
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Failure } from '../basics/failure.ts'
import { exitCodes } from '../basics/exit-codes.ts'
import { sizeText } from '../output/value-text.ts'
import { write } from '../output/terminal.ts'
import type { Context } from './context.ts'

export async function saveAnswer(
  { terminal, signal }: Pick<Context, 'terminal' | 'signal'>,
  response: Response,
  path: string,
): Promise<void> {
  if (response.status === 202) {
    await response.body?.cancel()
    const seconds = response.headers.get('retry-after')
    throw new Failure('Cannot download it yet: it is not ready', {
      exitCode: exitCodes.busy,
      remedy: seconds ? `Try again in ${seconds} seconds` : 'Try again later',
    })
  }
  if (!response.body) return
  if (path === '-') {
    for await (const piece of Readable.fromWeb(response.body as never))
      await write(terminal.out, piece as Buffer)
    return
  }
  const size = await saveFile(Readable.fromWeb(response.body as never), path, signal)
  terminal.note(`Wrote ${path} (${sizeText(size)})`)
}

/** The file is there when it is whole, and not before. */
export async function saveFile(source: Readable, path: string, signal: AbortSignal): Promise<number> {
  const part = join(dirname(path), `.${basename(path)}.${randomUUID().slice(0, 8)}.part`)
  try {
    await pipeline(source, createWriteStream(part, { flags: 'wx' }), { signal })
    const { size } = await stat(part)
    await rename(part, path)
    return size
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'EACCES' || code === 'ENOSPC' || code === 'EISDIR')
      throw new Failure(`Cannot write ${path}: ${message}`, { cause: error })
    throw error
  } finally {
    await rm(part, { force: true })
  }
}
