// Stores files that are dropped on the live view in the download directory, where the browser's file dialogs look first.
import { fileInfo, writeFile } from '@berth/contracts/files'
import { instancePaths } from '@berth/contracts/link'
import type { Operation } from '@berth/contracts/operation'
import type { Session } from '../session/session.ts'
import { boundBody } from '../control/controls.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { BodyStream } from '../../http/call.ts'
import { callOperation } from '../../instances/agent/operations.ts'

const DIRECTORY = `${instancePaths.home}/Downloads`
const MAX_NAME_BYTES = 200
const MAX_OF_THE_SAME_NAME = 100
const FALLBACK_NAME = 'file'

export interface Upload {
  readonly session: Session
  readonly name: string
  readonly stream: BodyStream
  readonly maxBytes: number
  readonly signal: AbortSignal
}

type Ask = (operation: Operation, path: string, body?: BodyStream) => Promise<void>

/** Returns the path of the file. */
export async function upload({ session, name, stream, maxBytes, signal }: Upload): Promise<string> {
  const tooLarge = new AbortController()
  try {
    using loan = await session.lend()
    const work = AbortSignal.any([signal, session.ending, tooLarge.signal])
    const ask: Ask = async (operation, path, body) => {
      const { headers = {}, body: content } = body ?? {}
      const call = { query: { path }, headers, body: content, signal: work }
      const answer = await callOperation(loan.agent, operation, call)
      answer.resume()
    }
    const path = await freePath(ask, fileName(name))
    // Not earlier, because this starts the stream.
    boundBody({ stream }, { maxBytes, tooLarge })
    tooLarge.signal.throwIfAborted()
    await ask(writeFile, path, stream)
    return path
  } catch (error) {
    if (tooLarge.signal.aborted) throw tooLarge.signal.reason
    if (error instanceof AppError || signal.aborted) throw error
    if (session.ending.aborted) throw new AppError('not_found', 'Cannot upload: the session has ended')
    throw new AppError('unavailable', 'Cannot reach the instance of the session; try again', { cause: error })
  }
}

/** Adds a number to a name that exists, so that nothing is overwritten. */
async function freePath(ask: Ask, name: string): Promise<string> {
  const dot = name.lastIndexOf('.')
  const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, '']
  for (let number = 0; number < MAX_OF_THE_SAME_NAME; number++) {
    const path = `${DIRECTORY}/${number === 0 ? name : `${stem} (${number})${ending}`}`
    try {
      await ask(fileInfo, path)
    } catch (error) {
      if (error instanceof AppError && error.code === 'not_found') return path
      throw error
    }
  }
  throw new AppError('conflict', `Cannot upload "${name}": there are too many files of that name`)
}

/** Removes directories and invisible characters, and shortens the name to the limit of the file system. */
export function fileName(given: string): string {
  const base = given
    .replaceAll(/[/\\]/g, '_')
    .replaceAll(/[\p{Cc}\p{Cs}\p{Cf}]/gu, '')
    .trim()
  let name = base
  while (Buffer.byteLength(name) > MAX_NAME_BYTES) name = Array.from(name).slice(0, -1).join('')
  return /^\.*$/.test(name) ? FALLBACK_NAME : name
}
