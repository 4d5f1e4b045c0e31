// Finds the true origin of a frame. The protocol derives its origin from the address and ignores sandboxes. Our isolated
// world reads the document's real origin. The browser knows the address of pages and of frames in separate processes.
// The origin only counts if all of them agree.
import { MAX_URL_LENGTH } from './bounds.ts'
import type { KnownFrame } from './frames.ts'
import type { Tab } from './tab.ts'

/** The value for an opaque origin, which belongs to no site. */
const OPAQUE = 'null'
/** Reported for addresses such as about:blank, where the document inherits the origin of its creator. */
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

/** Undefined for a frame in the same process as its parent. */
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
