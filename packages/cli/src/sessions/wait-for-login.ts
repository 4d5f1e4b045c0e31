import type { Wait } from '../command/rows.ts'
import { exitCodes } from '../basics/exit-codes.ts'
import { Failure } from '../basics/failure.ts'
import { progress } from '../output/progress.ts'
import { until } from './until.ts'

interface Connection {
  readonly status: string
  readonly flow_status?: string | null
  readonly flow_step?: string | null
  readonly error_message?: string | null
  readonly hosted_url?: string | null
}

export const wait: Wait = async (context, answer) => {
  const api = await context.api()
  const { hosted_url: url } = answer as Connection
  if (url) context.terminal.note(`Log in here, if you are asked: ${url}`)
  const shown = await progress(context.terminal, 'Logging in')
  try {
    const found = await until(
      () => api.call<Connection>('getAuthConnection', { params: context.input.params }),
      {
        isDone({ flow_status: status, flow_step: step }) {
          shown.step(step ? `Logging in: ${step.toLowerCase().replaceAll('_', ' ')}` : 'Logging in')
          return status !== 'IN_PROGRESS'
        },
        signal: context.signal,
      },
    )
    if (found.flow_status !== 'SUCCESS')
      throw new Failure(
        `The login did not succeed: ${found.error_message ?? found.flow_status ?? found.status}`,
        {
          exitCode: found.flow_status === 'EXPIRED' ? exitCodes.timedOut : exitCodes.failed,
        },
      )
    shown.done('Logged in')
    return found
  } catch (error) {
    shown.clear()
    throw error
  }
}
