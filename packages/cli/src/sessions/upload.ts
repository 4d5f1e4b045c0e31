import { posix } from 'node:path'
import { firstArg, type Context } from '../command/context.ts'
import { usage } from '../basics/failure.ts'
import { progress } from '../output/progress.ts'
import { fileFor } from '../files/source.ts'

export async function run(context: Context): Promise<void> {
  const files = filesOf(context)
  const form = new FormData()
  const shown = await progress(
    context.terminal,
    `Uploading ${files.length} file${files.length === 1 ? '' : 's'}`,
  )
  try {
    for (const [at, { local, remote }] of files.entries()) {
      form.set(`files[${at}][dest_path]`, remote)
      form.set(`files[${at}][file]`, await fileFor(local))
    }
    await (
      await context.api()
    ).answer('uploadFiles', { params: { id: firstArg(context) }, body: form, maxRetries: 0 })
    shown.done(`Uploaded ${files.map(({ remote }) => remote).join(', ')}`)
  } catch (error) {
    shown.clear()
    throw error
  }
}

interface Upload {
  readonly local: string
  readonly remote: string
}

export function filesOf({ args, options }: Pick<Context, 'args' | 'options'>): Upload[] {
  const words = [
    ...((args[1] as readonly string[] | undefined) ?? []),
    ...((options['file'] as string[]) ?? []),
  ]
  const directory = options['destDir'] as string | undefined
  const inDirectory = (local: string): Upload => {
    if (directory === undefined)
      throw usage(
        `Cannot upload ${local}: it has no path in the session`,
        'Write LOCAL:/remote/path, or name a directory with --dest-dir',
      )
    return { local, remote: posix.join(directory, posix.basename(local)) }
  }
  const files = [
    ...words.map((word) => {
      const at = word.indexOf(':')
      return at > 0 ? { local: word.slice(0, at), remote: word.slice(at + 1) } : inDirectory(word)
    }),
    ...((options['paths'] as string[]) ?? []).map(inDirectory),
  ]
  if (files.length === 0)
    throw usage(
      'Cannot upload nothing: name a file',
      'For example: berth fs upload ID photo.png:/tmp/photo.png',
    )
  return files
}
