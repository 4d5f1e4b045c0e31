// A login, step by step: the latest one of a connection unless another is named. With --report, as a file from which a
// test of the rules is made.
import { writeFile } from 'node:fs/promises'
import { Failure } from '../basics/failure.ts'
import type { Context } from '../command/context.ts'
import { print } from '../output/print.ts'
import { write, type Terminal } from '../output/terminal.ts'
import { clean } from '../output/value-text.ts'

interface Step {
  readonly number: number
  readonly timestamp: string
  readonly reason: string
  readonly why: string
  readonly saw: string
  readonly did: readonly string[]
  readonly url?: string
}

interface Explanation {
  readonly id: string
  readonly type: string
  readonly status: string
  readonly error_code?: string
  readonly error_message?: string
  readonly steps: readonly Step[]
}

export async function run(context: Context): Promise<void> {
  const { args, options, terminal, format, hasFormat } = context
  const [id, given] = args as readonly (string | undefined)[]
  const api = await context.api()
  const params = { id: id!, event_id: given ?? (await latest(context, id!)) }
  const file = options['report'] as string | undefined
  const found = await api.call<Explanation>('explainAuthConnectionLogin', {
    params,
    query: file === undefined ? {} : { pages: true },
  })
  if (file !== undefined) {
    await writeFile(file, `${JSON.stringify(found, null, 2)}\n`).catch((cause: unknown) => {
      throw new Failure(`Cannot write ${file}: ${(cause as Error).message}`, { cause })
    })
    terminal.note(`Wrote ${file}. Read it before you pass it on: a website writes what it likes on its pages`)
    return
  }
  if (hasFormat) return print(terminal, found, { format })
  await write(terminal.out, textOf(found, terminal))
}

async function latest(context: Context, id: string): Promise<string> {
  const { items } = await (
    await context.api()
  ).page('listAuthConnectionTimeline', { params: { id }, query: { limit: 1 } })
  const [event] = items as readonly { id: string }[]
  if (!event) throw new Failure('The connection has no login yet', { remedy: 'Begin one with "login"' })
  return event.id
}

function textOf(
  { type, status, error_code: code, error_message: message, steps }: Explanation,
  out: Terminal,
) {
  const end = [status, code, message].filter((part) => part !== undefined).join(', ')
  const lines = steps.flatMap(({ number, timestamp, reason, why, saw, did, url }) => [
    out.paint('bold', `${number}  ${timestamp.slice(11, 19)}  ${clean(why)} (${reason})`),
    ...(url === undefined ? [] : [`   at   ${clean(url)}`]),
    `   saw  ${clean(saw)}`,
    ...did.map((text) => `   did  ${clean(text)}`),
  ])
  if (steps.length === 0)
    lines.push('Nothing was noted: the login is older than its explanation, or never ran')
  return `${[`${type}: ${clean(end)}`, ...lines].join('\n')}\n`
}
