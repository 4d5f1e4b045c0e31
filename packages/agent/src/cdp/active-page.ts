// Finds the page in front, as a person would see it; background tabs get no input.
import type { CdpConnection } from './cdp-connection.ts'
import { attachToFirstPage, type FirstPage } from './settle.ts'

// Not imported: see api.ts.
const { get } = process.getBuiltinModule('node:http')

const LOOK_MS = 1_000
const MAX_LIST_BYTES = 4 * 1024 * 1024

interface TargetInfo {
  readonly targetId: string
  readonly type: string
}

interface Look {
  readonly isVisible: boolean
  readonly hasFocus: boolean
}

export class ActivePage {
  readonly #cdp: CdpConnection
  readonly #port: number
  /** How long a page may take to say whether it is visible. */
  readonly #lookMs: number
  /** CDP sessions by target, as long as the targets exist. */
  readonly #sessions = new Map<string, string>()
  #current: FirstPage | undefined

  constructor(cdp: CdpConnection, port: number, { lookMs = LOOK_MS }: { lookMs?: number } = {}) {
    this.#cdp = cdp
    this.#port = port
    this.#lookMs = lookMs
  }

  async find(): Promise<FirstPage> {
    const [{ targetInfos }, look] = await Promise.all([
      this.#cdp.call<{ targetInfos: TargetInfo[] }>('Target.getTargets'),
      this.#current && this.#look(this.#current.sessionId),
    ])
    const pages = targetInfos.filter(({ type }) => type === 'page').map(({ targetId }) => targetId)
    const isNew = pages.some((page) => !this.#sessions.has(page))
    for (const known of this.#sessions.keys()) if (!pages.includes(known)) this.#sessions.delete(known)
    const isThere = this.#current !== undefined && this.#sessions.has(this.#current.targetId)
    const isInFront = look?.isVisible === true && (look.hasFocus || pages.length === 1)
    if (isThere && !isNew && isInFront) return this.#current!
    return (this.#current = await this.#search())
  }

  /** The most recently active visible page. */
  async #search(): Promise<FirstPage> {
    let first: FirstPage | undefined
    for (const targetId of await this.#byActivity()) {
      const sessionId = await this.#attach(targetId).catch(() => undefined)
      if (sessionId === undefined) continue
      const page = { targetId, sessionId }
      first ??= page
      if ((await this.#look(sessionId))?.isVisible) return page
    }
    if (first) return first
    const page = await attachToFirstPage(this.#cdp)
    this.#sessions.set(page.targetId, page.sessionId)
    return page
  }

  async #attach(targetId: string): Promise<string> {
    const known = this.#sessions.get(targetId)
    if (known !== undefined) return known
    const { sessionId } = await this.#cdp.call<FirstPage>('Target.attachToTarget', {
      targetId,
      flatten: true,
    })
    this.#sessions.set(targetId, sessionId)
    return sessionId
  }

  /** Undefined for a page that is blocked by a script or a dialog. */
  async #look(sessionId: string): Promise<Look | undefined> {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const timer = setTimeout(() => resolve(undefined), this.#lookMs)
    const expression =
      '({ isVisible: document.visibilityState === "visible", hasFocus: document.hasFocus() })'
    const asked = this.#cdp
      .call<{ result: { value: Look } }>('Runtime.evaluate', { expression, returnByValue: true }, sessionId)
      .then(({ result }) => result.value)
      .catch(() => undefined)
    const look = await Promise.race([asked, promise])
    clearTimeout(timer)
    return look
  }

  /** Only this endpoint lists pages by recent activity. */
  async #byActivity(): Promise<string[]> {
    const text = await new Promise<string>((resolve, reject) => {
      const sent = get(
        { host: '127.0.0.1', port: this.#port, path: '/json/list', timeout: LOOK_MS },
        (answer) => {
          let body = ''
          answer.setEncoding('utf8')
          answer.on('data', (chunk: string) => {
            body += chunk
            if (body.length > MAX_LIST_BYTES) sent.destroy(new Error('The list of pages is too long'))
          })
          answer.once('end', () => resolve(body))
          answer.once('error', reject)
        },
      )
      sent.once('error', reject)
      sent.once('timeout', () => sent.destroy(new Error('Chromium does not list its pages')))
    })
    const targets = JSON.parse(text) as { id: string; type: string }[]
    return targets.filter(({ type }) => type === 'page').map(({ id }) => id)
  }
}
