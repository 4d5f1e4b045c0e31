import { randomBytes } from 'node:crypto'
import { firstArg, type Context } from '../command/context.ts'
import { extensionArchive } from './extension-archive.ts'

export async function run(context: Context): Promise<void> {
  const directories = context.args[1] as readonly string[]
  const form = new FormData()
  for (const [at, directory] of directories.entries()) {
    form.set(`extensions[${at}][name]`, randomBytes(8).toString('hex'))
    form.set(`extensions[${at}][zip_file]`, await extensionArchive(directory))
  }
  await (
    await context.api()
  ).answer('loadExtensions', { params: { id: firstArg(context) }, body: form, maxRetries: 0 })
  context.terminal.note(`Loaded ${directories.join(', ')}`)
}
