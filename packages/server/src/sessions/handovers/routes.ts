import * as contract from '@berth/contracts/handovers'
import { route, type Call, type Route } from '../../http/call.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { callerOf } from '../browsers/routes.ts'
import type { BrowserService } from '../browsers/service.ts'
import type { Handovers } from './service.ts'

export function handoverRoutes(
  handovers: Handovers,
  browsers: Pick<BrowserService, 'session' | 'idOf'>,
): Route[] {
  const idOf = (call: Call<unknown>, id: string) => browsers.idOf(callerOf(call), id)
  return [
    route(contract.createHandover, async (call) => {
      const { message, expires_in_seconds: lifeSeconds = 3600 } = call.body
      const session = await browsers.session(callerOf(call), call.params.id)
      return call.commit((tx) => handovers.create(tx, session, { message, lifeSeconds, origin: call.origin }))
    }),
    route(contract.getHandover, async (call) => {
      const browserId = await idOf(call, call.params.id)
      const { handover_id: id } = call.params
      const timeoutMs = (call.query.wait_seconds ?? 0) * 1000
      if (timeoutMs === 0) return handovers.get(call.db, browserId, id)
      using acquired = new DisposableStack()
      acquired.use(await hold(browsers, call, browserId))
      return await handovers.wait(browserId, id, { timeoutMs, signal: call.signal })
    }),
    route(contract.finishHandover, async (call) => {
      const browserId = await idOf(call, call.params.id)
      return handovers.finish(call.db, browserId, call.params.handover_id, {
        outcome: call.body.outcome,
        note: call.body.note,
      })
    }),
  ]
}

/** The session does not time out while somebody waits for its person; one that has ended cannot be held. */
async function hold(
  browsers: Pick<BrowserService, 'session'>,
  call: Call<unknown>,
  browserId: string,
): Promise<Disposable> {
  try {
    return (await browsers.session(callerOf(call), browserId)).stayAwake()
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return { [Symbol.dispose]: () => {} }
    throw error
  }
}
