// A file of the session, or a directory as a zip archive, to a file here or to stdout.
import type { Context } from '../command/context.ts'
import { refuseMissing } from '../command/build.ts'
import { saveAnswer } from '../command/save-answer.ts'
import { usage } from '../basics/failure.ts'

export async function run(context: Context): Promise<void> {
  const { operation, input, options, terminal } = context
  refuseMissing(operation!, { query: { ...input.query }, body: {} })
  const path = (options['output'] ?? options['to']) as string | undefined
  const isArchive = operation!.id === 'downloadDirZip'
  if (isArchive && path === undefined && terminal.out.isTTY)
    throw usage('Cannot write an archive to a terminal', 'Say where with --output FILE, or redirect stdout')
  const response = await (
    await context.api()
  ).answer(operation!.id, { params: input.params, query: input.query })
  await saveAnswer(context, response, path ?? '-')
}
