// A page, or a frame in a process of its own, with the tools in it, as long as the debugging connection is open. All texts
// are those of the page.
import type { CdpConnection, CdpEvent } from '../../cdp/cdp-connection.ts'

/** A page that hangs does not answer. */
const ANSWER_MS = 2_000

export interface Frame {
  readonly id: string
  readonly url: string
  readonly securityOrigin: string
}

export interface PageTool {
  readonly name: string
  readonly description: string
  readonly frameId: string
  readonly inputSchema?: unknown
  readonly outputSchema?: unknown
  readonly annotations?: { readonly autosubmit?: unknown }
  /** Of a tool that is a form. */
  readonly backendNodeId?: number
}

interface FrameTree {
  readonly frame: Frame
  readonly childFrames?: readonly FrameTree[]
}

export interface AttachedPage {
  readonly sessionId: string
  readonly targetId: string
  readonly frames: ReadonlyMap<string, Frame>
  /** Of the target itself. */
  readonly mainFrameId: string
  readonly tools: readonly PageTool[]
}

/** The tools that Chromium has announced, by session. */
export class Announced {
  readonly #tools = new Map<string, PageTool[]>()

  take({ method, params, sessionId = '' }: CdpEvent): void {
    if (method !== 'WebMCP.toolsAdded' || !Array.isArray(params['tools'])) return
    const tools = this.of(sessionId)
    tools.push(...(params['tools'] as PageTool[]))
    this.#tools.set(sessionId, tools)
  }

  of(sessionId: string): PageTool[] {
    return this.#tools.get(sessionId) ?? []
  }
}

export async function attach(
  cdp: CdpConnection,
  announced: Announced,
  targetId: string,
): Promise<AttachedPage> {
  const { sessionId } = await cdp.call<{ sessionId: string }>(
    'Target.attachToTarget',
    { targetId, flatten: true },
    undefined,
    ANSWER_MS,
  )
  const call = <T>(method: string) => cdp.call<T>(method, {}, sessionId, ANSWER_MS)
  const { frameTree } = await call<{ frameTree: FrameTree }>('Page.getFrameTree')
  await call('WebMCP.enable')
  // What is announced may follow the answer.
  await call('Page.getFrameTree')
  const frames = new Map(framesOf(frameTree).map((frame) => [frame.id, frame]))
  return { sessionId, targetId, frames, mainFrameId: frameTree.frame.id, tools: announced.of(sessionId) }
}

function framesOf({ frame, childFrames = [] }: FrameTree): Frame[] {
  return [frame, ...childFrames.flatMap(framesOf)]
}
