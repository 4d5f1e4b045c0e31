// Packs the directory of an entry file, deploys it, and follows the build.
import { existsSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { firstArg, type Context } from '../command/context.ts'
import { usage } from '../basics/failure.ts'
import { print, printLine } from '../output/print.ts'
import { progress } from '../output/progress.ts'
import { sizeText } from '../output/value-text.ts'
import { zipDirectory } from '../files/archive.ts'
import { envOf } from './env.ts'
import { isJson } from './events.ts'
import { followBuild } from './follow-build.ts'

interface Deployment {
  readonly id: string
  readonly status: string
}

export async function run(context: Context): Promise<void> {
  const { terminal } = context
  const entrypoint = resolve(firstArg(context))
  if (!existsSync(entrypoint))
    throw usage(
      `Cannot deploy ${firstArg(context)}: it does not exist`,
      'Name the entry file of the app, such as index.ts or main.py',
    )
  if (statSync(entrypoint).isDirectory())
    throw usage(
      `Cannot deploy ${firstArg(context)}: it is a directory`,
      'Name the entry file in it, such as index.ts or main.py',
    )
  const env = envOf(context)
  const api = await context.api()
  const shown = await progress(terminal, 'Packing')
  let deployment: Deployment
  try {
    const { bytes, files } = await zipDirectory(dirname(entrypoint), { followsGit: true })
    if (!files.includes(basename(entrypoint)))
      throw usage(
        `Cannot deploy ${firstArg(context)}: a .gitignore names it`,
        'Take it out of the .gitignore',
      )
    shown.step(`Uploading ${files.length} file${files.length === 1 ? '' : 's'} (${sizeText(bytes.length)})`)
    const form = formOf(context, env)
    form.set('entrypoint_rel_path', basename(entrypoint))
    form.set('file', new File([new Uint8Array(bytes)], 'app.zip'))
    deployment = await api.call<Deployment>('createDeployment', { body: form, maxRetries: 0 })
    shown.done(`Uploaded ${files.length} file${files.length === 1 ? '' : 's'} (${sizeText(bytes.length)})`)
  } catch (error) {
    shown.clear()
    throw error
  }
  await finish(context, deployment)
}

/** What a zip archive and a repository have in common. */
export function formOf({ options }: Context, env: Readonly<Record<string, string>>): FormData {
  const form = new FormData()
  form.set('version', textIn(options['version']) ?? 'latest')
  form.set('force', String(options['force'] === true))
  const region = textIn(options['region'])
  if (region !== undefined) form.set('region', region)
  for (const [name, value] of Object.entries(env)) form.set(`env_vars[${name}]`, value)
  return form
}

const textIn = (value: unknown) => (typeof value === 'string' ? value : undefined)

export async function finish(context: Context, deployment: Deployment): Promise<void> {
  const { terminal, options, format } = context
  if (options['follow'] === false) {
    await print(terminal, deployment, { format })
    return
  }
  if (isJson(context)) await printLine(terminal, deployment)
  await followBuild(context, await context.api(), deployment.id)
}
