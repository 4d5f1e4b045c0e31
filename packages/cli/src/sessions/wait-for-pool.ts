import type { Wait } from '../command/rows.ts'
import { progress } from '../output/progress.ts'
import { until } from './until.ts'

interface Pool {
  readonly id: string
  readonly available_count: number
  readonly acquired_count: number
  readonly browser_pool_config: { readonly size: number }
}

export const wait: Wait = async (context, answer) => {
  const { id } = answer as Pool
  const api = await context.api()
  const shown = await progress(context.terminal, 'Waiting for the browsers of the pool')
  try {
    const full = await until(() => api.call<Pool>('getBrowserPool', { params: { id } }), {
      isDone(pool) {
        const { available_count: available, acquired_count: acquired } = pool
        const { size } = pool.browser_pool_config
        shown.step(`${available + acquired} of ${size} browsers are ready`)
        return available + acquired >= size
      },
      signal: context.signal,
    })
    shown.done('The pool is full')
    return full
  } catch (error) {
    shown.clear()
    throw error
  }
}
