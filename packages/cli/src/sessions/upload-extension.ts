import { firstArg, type Context } from '../command/context.ts'
import { print } from '../output/print.ts'
import { progress } from '../output/progress.ts'
import { extensionArchive } from './extension-archive.ts'

export async function run(context: Context): Promise<void> {
  const { input, terminal, format } = context
  const form = new FormData()
  form.set('file', await extensionArchive(firstArg(context)))
  const { name } = input.body
  if (typeof name === 'string') form.set('name', name)
  const api = await context.api()
  const shown = await progress(terminal, 'Uploading the extension')
  try {
    const answer = await api.call('uploadExtension', { body: form, maxRetries: 0 })
    shown.done('Uploaded')
    await print(terminal, answer, { format })
  } catch (error) {
    shown.clear()
    throw error
  }
}
