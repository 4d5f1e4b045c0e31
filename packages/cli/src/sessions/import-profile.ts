import { Readable } from 'node:stream'
import type { Context } from '../command/context.ts'
import { print } from '../output/print.ts'
import { openSource } from '../files/source.ts'

export async function run(context: Context): Promise<void> {
  const [name, file] = context.args as [string, string]
  const response = await (
    await context.api()
  ).answer('importProfile', {
    params: { id_or_name: name },
    body: Readable.toWeb(await openSource(file)),
    headers: { 'content-type': 'application/octet-stream' },
    maxRetries: 0,
  })
  await print(context.terminal, await response.json(), { format: context.format })
}
