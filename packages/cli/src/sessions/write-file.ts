import { Readable } from 'node:stream'
import type { Context } from '../command/context.ts'
import { refuseMissing } from '../command/build.ts'
import { usage } from '../basics/failure.ts'
import { openSource } from '../files/source.ts'

export async function run(context: Context): Promise<void> {
  const { operation, input, options, terminal } = context
  refuseMissing(operation!, { query: { ...input.query }, body: {} })
  const source = (options['source'] as string | undefined) ?? '-'
  if (source === '-' && process.stdin.isTTY)
    throw usage(
      'Cannot write nothing: stdin is a terminal',
      'Name a file with --source FILE, or pipe the content in',
    )
  await (
    await context.api()
  ).answer('writeFile', {
    params: input.params,
    query: input.query,
    body: Readable.toWeb(await openSource(source)),
    headers: { 'content-type': 'application/octet-stream' },
    maxRetries: 0,
  })
  terminal.note(`Wrote ${String(input.query['path'])}`)
}
