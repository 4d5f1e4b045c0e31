import { MAX_WEBMCP_TOOLS, type listWebMcpTools } from '@berth/contracts/webmcp'
import type { Response } from '@berth/contracts/operation'
import type { CdpConnection } from '../../cdp/cdp-connection.ts'
import type { Chromium } from '../../chromium/chromium.ts'
import { ControlError } from '../calls/operation.ts'
import { Announced, attach, type AttachedPage, type PageTool } from './attached-page.ts'
import { encodeRef } from './tool-ref.ts'

const MAX_URL_LENGTH = 8_192
const MAX_TITLE_LENGTH = 1_024
const MAX_NAME_LENGTH = 1_024
/** Of all tools together, as JSON. */
const MAX_LIST_BYTES = 8 * 1024 * 1024
const MAX_PAGES = 100

type Tool = Response<typeof listWebMcpTools>['tools'][number]

interface TargetInfo {
  readonly targetId: string
  readonly type: string
  readonly url: string
  readonly title: string
  readonly parentFrameId?: string
}

export class ToolList {
  readonly #chromium: Pick<Chromium, 'openCdp'>
  /** Numbers of tabs, by target. */
  readonly #tabs = new Map<string, number>()
  #lastTab = 0

  constructor(chromium: Pick<Chromium, 'openCdp'>) {
    this.#chromium = chromium
  }

  async read(): Promise<Tool[]> {
    const announced = new Announced()
    using cdp = await this.#chromium
      .openCdp((event) => announced.take(event))
      .catch((error: unknown) => {
        const { message } = error as Error
        throw new ControlError('unavailable', `Cannot list tools: ${message}`, { cause: error })
      })
    const { targetInfos } = await cdp.call<{ targetInfos: TargetInfo[] }>('Target.getTargets')
    this.#forget(targetInfos)
    const targets = targetInfos.filter(({ type }) => type === 'page' || type === 'iframe').slice(0, MAX_PAGES)
    const found = await Promise.all(
      targets.map(async (target) => {
        // One that hangs or has just gone has no tools.
        const page = await attach(cdp, announced, target.targetId).catch(() => undefined)
        return page && { target, page }
      }),
    )
    const attached = found.filter((each) => each !== undefined)
    const tools: Tool[] = []
    let bytes = 0
    for (const { target, page } of attached) {
      if (page.tools.length === 0) continue
      const root = rootOf(target, attached)
      if (!root) continue
      const tab = await this.#tabOf(cdp, root)
      for (const tool of page.tools) {
        const entry = toTool(tool, { page, isRoot: root === target, tab })
        if (!entry) continue
        bytes += Buffer.byteLength(JSON.stringify(entry))
        if (bytes > MAX_LIST_BYTES || tools.length >= MAX_WEBMCP_TOOLS) return tools
        tools.push(entry)
      }
    }
    return tools
  }

  #forget(targets: readonly TargetInfo[]): void {
    const open = new Set(targets.map(({ targetId }) => targetId))
    for (const known of this.#tabs.keys()) if (!open.has(known)) this.#tabs.delete(known)
  }

  async #tabOf(cdp: CdpConnection, { targetId, url, title }: TargetInfo): Promise<Tab> {
    const number = this.#tabs.get(targetId) ?? ++this.#lastTab
    this.#tabs.set(targetId, number)
    const { windowId } = await cdp
      .call<{ windowId: number }>('Browser.getWindowForTarget', { targetId })
      .catch(() => ({ windowId: 0 }))
    return {
      tab_id: number,
      window_id: windowId,
      target_id: targetId,
      page_url: url.slice(0, MAX_URL_LENGTH),
      page_title: title.slice(0, MAX_TITLE_LENGTH),
    }
  }
}

type Tab = Omit<Tool['source'], 'frame'>
type Attached = readonly { readonly target: TargetInfo; readonly page: AttachedPage }[]

/** The page of a frame that has a process of its own. */
function rootOf(target: TargetInfo, attached: Attached): TargetInfo | undefined {
  let current: TargetInfo | undefined = target
  for (let depth = 0; current && depth < attached.length; depth++) {
    if (current.type === 'page') return current
    current = holderOf(current.parentFrameId, attached)
  }
  return undefined
}

function holderOf(frameId: string | undefined, attached: Attached): TargetInfo | undefined {
  if (frameId === undefined) return undefined
  return attached.find(({ page }) => page.frames.has(frameId))?.target
}

function toTool(
  { name, description, frameId, inputSchema, outputSchema, annotations }: PageTool,
  { page, isRoot, tab }: { page: AttachedPage; isRoot: boolean; tab: Tab },
): Tool | undefined {
  const frame = page.frames.get(frameId)
  // It has just been added, or its name is no name.
  if (!frame || typeof name !== 'string' || name.length > MAX_NAME_LENGTH) return undefined
  const isMain = isRoot && frameId === page.mainFrameId
  return {
    tool_ref: encodeRef({ targetId: page.targetId, frameId, origin: frame.securityOrigin, name }),
    tool: {
      name,
      description,
      ...(inputSchema !== undefined && { inputSchema }),
      ...(outputSchema !== undefined && { outputSchema }),
      ...(annotations !== undefined && { annotations }),
    },
    source: { ...tab, frame: isMain ? null : { id: frameId, url: frame.url.slice(0, MAX_URL_LENGTH) } },
  }
}
