// Files of this machine that are sent.
import { createReadStream } from 'node:fs'
import { open, readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { Failure } from '../basics/failure.ts'
import { sizeText } from '../output/value-text.ts'

/** Forms are made in memory. */
const MAX_FORM_FILE_BYTES = 1024 * 1024 * 1024

export async function openSource(path: string): Promise<Readable> {
  if (path === '-') return process.stdin
  try {
    await (await open(path)).close()
  } catch (error) {
    throw unreadable(path, error)
  }
  return createReadStream(path)
}

/** A file for a form; `-` is stdin. */
export async function fileFor(path: string, name = path === '-' ? 'stdin' : basename(path)): Promise<File> {
  if (path === '-') return new File([new Uint8Array(await buffer(process.stdin))], name)
  try {
    const { size } = await stat(path)
    if (size > MAX_FORM_FILE_BYTES)
      throw new Failure(
        `Cannot send ${path}: it has ${sizeText(size)}, and at most ${sizeText(MAX_FORM_FILE_BYTES)} are sent`,
      )
    return new File([new Uint8Array(await readFile(path))], name)
  } catch (error) {
    throw error instanceof Failure ? error : unreadable(path, error)
  }
}

function unreadable(path: string, cause: unknown): Failure {
  return new Failure(`Cannot read ${path}: ${(cause as Error).message}`, { exitCode: 2, cause })
}
