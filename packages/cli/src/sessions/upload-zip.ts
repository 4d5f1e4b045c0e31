import { firstArg, type Context } from '../command/context.ts'
import { usage } from '../basics/failure.ts'
import { fileFor } from '../files/source.ts'

export async function run(context: Context): Promise<void> {
  const { zip, destDir } = context.options as { zip?: string; destDir?: string }
  if (zip === undefined || destDir === undefined)
    throw usage('Cannot upload: --zip and --dest-dir are needed')
  const form = new FormData()
  form.set('dest_path', destDir)
  form.set('zip_file', await fileFor(zip, 'archive.zip'))
  await (
    await context.api()
  ).answer('uploadZip', { params: { id: firstArg(context) }, body: form, maxRetries: 0 })
  context.terminal.note(`Unpacked into ${destDir}`)
}
