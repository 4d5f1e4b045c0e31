// A profile as an archive, or unpacked into a directory by tar.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { text } from 'node:stream/consumers'
import type { Context } from '../command/context.ts'
import { saveAnswer } from '../command/save-answer.ts'
import { Failure, usage } from '../basics/failure.ts'

export async function run(context: Context): Promise<void> {
  const { input, options, terminal } = context
  const to = (options['to'] ?? options['output']) as string | undefined
  if (to === undefined)
    throw usage('Cannot download the profile: say where', 'Add --to DIRECTORY, --to FILE.tar, or --to -')
  const api = await context.api()
  const isDirectory = to !== '-' && !/\.tar(\.zst)?$/.test(to)
  const format = isDirectory || to.endsWith('.tar') ? 'tar' : 'tar.zst'
  const response = await api.answer('downloadProfile', {
    params: input.params,
    query: { format, ...input.query },
  })
  if (!isDirectory || response.status === 202) return saveAnswer(context, response, to)
  await unpack(response, to, context.signal)
  terminal.note(`Unpacked into ${to}`)
}

/** tar refuses names that lead out of the directory. */
async function unpack(response: Response, directory: string, signal: AbortSignal): Promise<void> {
  await mkdir(directory, { recursive: true })
  const child = spawn('tar', ['-xf', '-', '-C', directory, '--no-same-owner'], {
    stdio: ['pipe', 'ignore', 'pipe'],
    signal,
  })
  const ended = once(child, 'close') as Promise<[number | null]>
  const [sent, complaints, [code]] = await Promise.all([
    pipeline(Readable.fromWeb(response.body as never), child.stdin).catch((error: unknown) => error),
    text(child.stderr),
    ended,
  ])
  if (code === 0 && sent === undefined) return
  throw new Failure(`Cannot unpack the profile: ${complaints.trim() || String(sent)}`)
}
