// Gives the token of a captcha to the page: to the fields that it sends, and to the functions that wait for it.
import type { ActOrder, ActResult } from '@berth/contracts/page-snapshot'
import { Frames } from './frames.ts'
import { isOfHosts } from './hosts.ts'
import { originOf } from './origin.ts'
import type { Solved } from './page-types.ts'
import type { Tab } from './tab.ts'

const CALL_MS = 3_000

export async function solve(tab: Tab, { value = '', hosts = [] }: ActOrder): Promise<ActResult> {
  const { main } = await Frames.of(tab)
  const origin = await originOf(tab, main)
  if (!isOfHosts(origin, hosts))
    return { result: 'elsewhere', reason: `The page is on ${origin}`.slice(0, 300) }
  const world = await tab.worldOf(main, main.sessionId)
  const { fields, callbacks } = await world.call<Solved>('solve', [value])
  if (fields === 0 && callbacks.length === 0) {
    return { result: 'refused', reason: 'The page has no field for the answer to a captcha' }
  }
  if (callbacks.length > 0) await callPage(tab, callbacks, value)
  return { result: 'done' }
}

/** Only the page's own world has its functions. They may navigate away. */
async function callPage({ cdp, sessionId }: Tab, names: readonly string[], token: string): Promise<void> {
  const expression = `for (const name of ${JSON.stringify(names)}) {
    const found = name.split('.').reduce((of, key) => of?.[key], globalThis)
    if (typeof found === 'function') try { found(${JSON.stringify(token)}) } catch {}
  }`
  await cdp
    .call('Runtime.evaluate', { expression, timeout: CALL_MS, silent: true }, sessionId, CALL_MS + 1_000)
    .catch(() => undefined)
}
