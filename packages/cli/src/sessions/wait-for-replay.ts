import type { Wait } from '../command/rows.ts'
import { progress } from '../output/progress.ts'
import { until } from './until.ts'

export const wait: Wait = async (context, answer) => {
  const { params } = context.input
  const api = await context.api()
  const shown = await progress(context.terminal, 'Waiting for the recording')
  try {
    await until(
      async () => {
        const response = await api.answer('downloadReplay', { params })
        await response.body?.cancel()
        return response.status
      },
      { isDone: (status) => status !== 202, signal: context.signal },
    )
    shown.done('The recording is ready')
    return answer
  } catch (error) {
    shown.clear()
    throw error
  }
}
