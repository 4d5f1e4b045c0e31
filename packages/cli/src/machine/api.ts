// Any request, for what has no command of its own.
import { Readable } from 'node:stream'
import type { Context } from '../command/context.ts'
import { readText } from '../command/values.ts'
import { usage } from '../basics/failure.ts'
import { print } from '../output/print.ts'
import { write } from '../output/terminal.ts'

const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE']

export async function run({ args, options, terminal, format, api }: Context): Promise<void> {
  const [given, path] = args as [string, string]
  const method = given.toUpperCase()
  if (!METHODS.includes(method))
    throw usage(`Cannot send "${given}"`, `The methods are: ${METHODS.join(', ')}`)
  if (!path.startsWith('/')) throw usage(`Cannot send to "${path}": the path must start with /`)
  const data = options['data'] as string | undefined
  const response = await (
    await api()
  ).send(method, path, {
    ...(data !== undefined && { body: parsed(readText(data)) }),
    headers: (options['header'] as Record<string, string> | undefined) ?? {},
  })
  if (options['include'] === true) {
    terminal.err.write(`${response.status}\n`)
    for (const [name, value] of response.headers) terminal.err.write(`${name}: ${value}\n`)
  }
  if (response.headers.get('content-type')?.includes('application/json')) {
    const text = await response.text()
    if (text !== '') await print(terminal, JSON.parse(text), { format: format === 'yaml' ? 'yaml' : 'json' })
  } else if (response.body) {
    for await (const piece of Readable.fromWeb(response.body as never))
      await write(terminal.out, piece as Buffer)
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw usage(`Cannot send the body: it is no JSON: ${(error as Error).message}`)
  }
}
