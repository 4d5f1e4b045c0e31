// The audit log in checked chunks, one after another, into one file.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { Readable } from 'node:stream'
import type { Context } from '../command/context.ts'
import { refuseMissing } from '../command/build.ts'
import { saveFile } from '../command/save-answer.ts'
import type { Api } from '../api/api.ts'
import { Failure, usage } from '../basics/failure.ts'
import { progress } from '../output/progress.ts'
import { write } from '../output/terminal.ts'

export async function run(context: Context): Promise<void> {
  const { options, input, terminal, operation } = context
  refuseMissing(operation!, { query: { ...input.query }, body: {} })
  const query = { format: 'jsonl', ...input.query }
  const to = (options['to'] ?? options['output']) as string | undefined
  if (to === undefined && terminal.out.isTTY)
    throw usage('Cannot download: say where', 'Add --to FILE, or redirect stdout')
  if (to !== undefined && to !== '-' && existsSync(to) && options['force'] !== true)
    throw usage(`Cannot write ${to}: it exists`, 'Choose another name, or add --force')
  const api = await context.api()
  const shown = await progress(terminal, 'Downloading the audit log')
  let rows = 0
  try {
    const chunks = chunksOf(api, query, (count) => shown.step(`${(rows += count)} entries`))
    if (to === undefined || to === '-') for await (const chunk of chunks) await write(terminal.out, chunk)
    else await saveFile(Readable.from(chunks), to, context.signal)
    shown.done(`Downloaded ${rows} entries`)
  } catch (error) {
    shown.clear()
    throw error
  }
}

async function* chunksOf(
  api: Api,
  query: Record<string, unknown>,
  onChunk: (rows: number) => void,
): AsyncGenerator<Buffer> {
  let cursor: string | undefined
  do {
    const response = await api.answer('exportAuditLogs', {
      query: { ...query, ...(cursor && { cursor }) },
      maxRetries: 0,
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    const wanted = response.headers.get('x-content-sha256')
    if (wanted && createHash('sha256').update(bytes).digest('hex') !== wanted)
      throw new Failure('Cannot trust the download: a chunk has another hash than the server said', {
        remedy: 'Try again',
      })
    yield bytes
    onChunk(Number(response.headers.get('x-row-count') ?? 0))
    cursor =
      response.headers.get('x-has-more') === 'true'
        ? (response.headers.get('x-next-cursor') ?? undefined)
        : undefined
  } while (cursor !== undefined)
}
