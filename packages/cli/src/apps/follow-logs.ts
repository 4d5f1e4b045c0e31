// Log lines of a stream. Without --follow it ends when nothing more comes for a while: the server first sends what it has.
import type { Context } from '../command/context.ts'
import { Failure } from '../basics/failure.ts'
import { isJson, printEvent, printLog, type AppEvent } from './events.ts'

const SILENCE_MS = 3_000

export interface LogSource {
  readonly operation: 'followDeployment' | 'followInvocation'
  readonly id: string
  readonly since?: string | undefined
}

export async function followLogs(context: Context, { operation, id, since }: LogSource): Promise<void> {
  const follows = context.options['follow'] === true
  const silence = new AbortController()
  const signal = AbortSignal.any([context.signal, silence.signal])
  const api = (await context.api()).within(signal)
  let timer: ReturnType<typeof setTimeout> | undefined
  const hear = () => {
    clearTimeout(timer)
    if (!follows) timer = setTimeout(() => silence.abort(), SILENCE_MS)
  }
  hear()
  try {
    for await (const event of api.events<AppEvent>(operation, {
      params: { id },
      query: { since: since ?? '' },
    })) {
      hear()
      if (event.event === 'error') throw new Failure(`Cannot follow the logs: ${event.error?.message}`)
      if (event.event !== 'log') continue
      if (isJson(context)) await printEvent(context, event)
      else await printLog(context, event)
    }
  } catch (error) {
    if (!silence.signal.aborted) throw error
  } finally {
    clearTimeout(timer)
  }
}
