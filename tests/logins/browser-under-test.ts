// Reads and clears what the software has stored in the browser of a login.
import type { CdpConnection } from '../../packages/agent/src/cdp/cdp-connection.ts'
import type { PageActionsUnderTest } from '../fixtures/login-page-actions.ts'
import type { Kept } from './software.ts'

export async function keptBy(pageActions: PageActionsUnderTest, origin: string): Promise<Kept> {
  using cdp = await pageActions.agent.openCdp()
  const { cookies } = await cdp.call<{ cookies: { name: string; value: string }[] }>('Storage.getCookies')
  return {
    cookies: cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
    local: await evaluateAt(cdp, origin, '({ ...localStorage })'),
  }
}

export async function forgetAll(pageActions: PageActionsUnderTest, origin: string): Promise<void> {
  using cdp = await pageActions.agent.openCdp()
  await evaluateAt(cdp, origin, 'localStorage.clear(), sessionStorage.clear()')
  await cdp.call('Storage.clearDataForOrigin', { origin, storageTypes: 'all' }, await attach(cdp, origin))
  await cdp.call('Storage.clearCookies')
}

export async function evaluateAt<T>(cdp: CdpConnection, origin: string, expression: string): Promise<T> {
  const { result, exceptionDetails } = await cdp.call<{ result: { value: T }; exceptionDetails?: object }>(
    'Runtime.evaluate',
    { expression, returnByValue: true },
    await attach(cdp, origin),
  )
  if (exceptionDetails) throw new Error(`The page threw ${JSON.stringify(exceptionDetails).slice(0, 500)}`)
  return result.value
}

async function attach(cdp: CdpConnection, origin: string): Promise<string> {
  const { targetInfos } = await cdp.call<{
    targetInfos: { targetId: string; type: string; url: string }[]
  }>('Target.getTargets')
  const page = targetInfos.find(({ type, url }) => type === 'page' && URL.parse(url)?.origin === origin)
  if (!page) throw new Error(`The browser has no page of ${origin} open`)
  const { sessionId } = await cdp.call<{ sessionId: string }>('Target.attachToTarget', {
    targetId: page.targetId,
    flatten: true,
  })
  return sessionId
}
