// Carries out the acts of a login on a page.
import type { ActOrder, ActResult } from '@berth/contracts/page-snapshot'
import { Elements, GONE } from './element.ts'
import { PageGone } from './gone.ts'
import { Keyboard } from './keyboard.ts'
import type { Usability } from './page-types.ts'
import { solve } from './solve.ts'
import type { Tab } from './tab.ts'
import { fill } from './typing.ts'

const NAVIGATE_MS = 10_000
const DONE: ActResult = { result: 'done' }

export async function act(tab: Tab, order: ActOrder, signal: AbortSignal): Promise<ActResult> {
  try {
    switch (order.act) {
      case 'reload':
        await tab.whileNavigating(() => tab.cdp.call('Page.reload', {}, tab.sessionId, NAVIGATE_MS))
        return DONE
      case 'back':
        return await goBack(tab)
      case 'solve':
        return await solve(tab, order)
      default:
        return await useElement(tab, order, signal)
    }
  } catch (error) {
    if (error instanceof PageGone) return GONE
    throw error
  } finally {
    tab.used()
  }
}

async function useElement(tab: Tab, order: ActOrder, signal: AbortSignal): Promise<ActResult> {
  const { refs = [], value = '' } = order
  // The value may be a secret, so without allowed hosts nothing is typed.
  const hosts = order.act === 'fill' ? (order.hosts ?? []) : order.hosts
  const elements = await Elements.reach(tab, refs, hosts)
  if (!(elements instanceof Elements)) return elements
  // Pages in the background get no input.
  if (await elements.isHidden()) await tab.cdp.call('Page.bringToFront', {}, tab.sessionId)
  const [ref = ''] = refs
  switch (order.act) {
    case 'fill': {
      const usability = await elements.whenEnabled(ref, signal)
      return usability === 'usable' ? fill(elements, value, signal) : refused(usability)
    }
    case 'choose': {
      const usability = await elements.choose(ref, value)
      return usability === 'usable' ? DONE : refused(usability)
    }
    case 'tick':
      return tick(elements, ref)
    case 'enter':
      return enter(elements, ref)
    default:
      return click(elements, ref, signal)
  }
}

async function click(elements: Elements, ref: string, signal: AbortSignal): Promise<ActResult> {
  const usability = await elements.whenEnabled(ref, signal)
  if (usability === 'usable' && (await elements.click(ref))) return DONE
  // The element is covered or has no size. A script can still click it.
  if (usability === 'usable' || usability === 'read-only' || usability === 'hidden') {
    return (await elements.press(ref)) ? DONE : GONE
  }
  return refused(usability)
}

async function tick(elements: Elements, ref: string): Promise<ActResult> {
  const attempts = [
    () => elements.click(ref),
    () => elements.click(ref, { on: 'aimAtLabel' }),
    () => elements.press(ref),
  ]
  const usability = await elements.usability(ref)
  if (usability === 'gone' || usability === 'disabled') return refused(usability)
  for (const attempt of attempts) {
    if (await elements.isTicked(ref)) return DONE
    await attempt()
  }
  const isTicked = await elements.isTicked(ref)
  if (isTicked === null) return GONE
  return isTicked ? DONE : { result: 'refused', reason: 'Cannot tick the element: it does not stay ticked' }
}

async function enter(elements: Elements, ref: string): Promise<ActResult> {
  const usability = await elements.usability(ref)
  if (usability !== 'usable' && usability !== 'read-only') return refused(usability)
  if ((await elements.focused()) === -1) await elements.focus(ref)
  if ((await elements.focused()) === -1)
    return { result: 'refused', reason: 'Cannot press Enter: the element does not take the focus' }
  await new Keyboard(elements.tab.cdp, elements.tab.sessionId).enter()
  return DONE
}

async function goBack({ cdp, sessionId }: Tab): Promise<ActResult> {
  const { currentIndex, entries } = await cdp.call<{ currentIndex: number; entries: { id: number }[] }>(
    'Page.getNavigationHistory',
    {},
    sessionId,
  )
  const before = entries[currentIndex - 1]
  if (!before) return { result: 'refused', reason: 'Cannot go back: there is no previous page' }
  await cdp.call('Page.navigateToHistoryEntry', { entryId: before.id }, sessionId)
  return DONE
}

function refused(usability: Usability | 'unknown'): ActResult {
  if (usability === 'gone') return GONE
  const why = usability === 'unknown' ? 'it has no such option' : `it is ${usability}`
  return { result: 'refused', reason: `Cannot use the element: ${why}` }
}
