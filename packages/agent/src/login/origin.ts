// The origin of a frame. What the protocol calls so is made of the address, and knows nothing of sandboxes; the document
// has its true one, which our own world can ask for without the page; and the browser itself knows the address of pages
// and of frames in processes of their own. It counts only if all agree.
import { MAX_URL_LENGTH } from './bounds.ts'
import type { KnownFrame } from './frames.ts'
import type { Tab } from './tab.ts'

/** As it is told of an opaque one, which is no site's. */
const OPAQUE = 'null'
/** Of an address such as about:blank: the document has the origin of who made it. */
const INHERITED = '://'

export async function originOf(tab: Tab, frame: KnownFrame): Promise<string> {
  const [origin, address] = await Promise.all([trueOrigin(tab, frame), addressOf(tab, frame)])
  const isOfAddress = frame.securityOrigin === INHERITED || frame.securityOrigin === origin
  const isOfBrowser =
    address === undefined || !/^https?:/.test(address) || URL.parse(address)?.origin === origin
  return isOfAddress && isOfBrowser ? origin.slice(0, MAX_URL_LENGTH) : OPAQUE
}

async function trueOrigin(tab: Tab, frame: KnownFrame): Promise<string> {
  try {
    const world = await tab.worldOf(frame, frame.sessionId)
    return await world.call<string>('origin')
  } catch {
    return OPAQUE
  }
}

/** Undefined for a frame that shares the process of the one around it. */
async function addressOf(tab: Tab, { id: targetId }: KnownFrame): Promise<string | undefined> {
  try {
    const { targetInfo } = await tab.cdp.call<{ targetInfo: { url: string } }>('Target.getTargetInfo', {
      targetId,
    })
    return targetInfo.url
  } catch {
    return undefined
  }
}
