// The browser from the view of a login: one page, or the popup that it opened. Uses its own connection to Chromium, next
// to those of other clients, and reconnects when Chromium restarts.
import { Semaphore } from '@berth/kit/semaphore'
import { pause } from '@berth/kit/pause'
import type {
  ActOrder,
  ActResult,
  LookOrder,
  PageSnapshot,
  PasskeysOrder,
  PasskeysState,
  Photo,
  PhotoOrder,
  VisitOrder,
} from '@berth/contracts/page-snapshot'
import { CdpConnection, type CdpEvent } from '../cdp/cdp-connection.ts'
import type { Chromium } from '../chromium/chromium.ts'
import { act } from './acts.ts'
import { BrowserGone } from './gone.ts'
import { HttpAuth } from './http-auth.ts'
import { photoOf } from './photo.ts'
import { changesOf, whenQuiet } from './quiet.ts'
import { Passkeys } from './passkeys.ts'
import { fingerprintOf, emptyContent, readContent, type PageContent } from './page-snapshot.ts'
import { Tab, type Attached, type TargetInfo } from './tab.ts'

const CHROMIUM_MS = 15_000
const LOOK_EVERY_MS = 50
const READ_MS = 3_000
const IDLE_MS = 30 * 60_000
const AGAIN_MS = 50
const PAGES_ONLY = [{ type: 'page' }, { exclude: true }]
const ATTACH_MS = 5_000
const ENDING_MS = 5_000
const METHOD_START = '{"method":"'

interface Conversation {
  readonly cdp: CdpConnection
  readonly auth: HttpAuth
  readonly tabs: Map<string, Tab>
  /** The login's page, with its popups after it. */
  stack: Tab[]
  /** True while Chromium reports the pages that already exist. */
  isBeginning: boolean
}

export class LoginBrowser {
  readonly #chromium: Chromium
  readonly #turns = new Semaphore(1)
  readonly #passkeys = new Passkeys()
  #conversation: Conversation | undefined
  #idleTimer: NodeJS.Timeout | undefined
  #number = 0
  /** What the last look saw. */
  #lastLook: { document: number; fingerprint: string } | undefined

  /** While a person may use the pages: whether they may go to an address. */
  mayLeaveTo: ((url: string) => boolean) | undefined

  constructor(chromium: Chromium) {
    this.#chromium = chromium
  }

  async look(order: LookOrder, signal: AbortSignal): Promise<PageSnapshot> {
    const deadline = performance.now() + order.most_ms
    const look = async (conversation: Conversation) => {
      const current = () => currentOf(conversation)
      if (order.until_changed) await this.#whenChanged(current, deadline, signal)
      // Who asks for no quiet at all wants to see the page as it is.
      const until = order.quiet_ms === 0 ? 0 : deadline
      const isQuiet = await whenQuiet(current, { quietMs: order.quiet_ms, deadline: until, signal })
      return this.#snapshot(current, isQuiet, conversation)
    }
    return this.#inTurn(signal, async (conversation) => {
      try {
        return await look(conversation)
      } catch (error) {
        if (!(error instanceof BrowserGone) || this.#conversation !== conversation) throw error
        // The page was closed. Continue with another page, but only of the same Chromium.
        const now = await this.#converse()
        if (now !== conversation) throw error
        return look(now)
      }
    })
  }

  async visit(order: VisitOrder, signal: AbortSignal): Promise<PageSnapshot> {
    this.mayLeaveTo = undefined
    return this.#inTurn(signal, (conversation) =>
      order.aside
        ? this.#visitAside(conversation, order, signal)
        : this.#visitHere(conversation, order, signal),
    )
  }

  async act(order: ActOrder, signal: AbortSignal): Promise<ActResult> {
    this.mayLeaveTo = undefined
    return this.#inTurn(signal, async ({ auth, ...conversation }) => {
      if (order.act !== 'authenticate') return act(currentOf(conversation), order, signal)
      const { user = '', value = '', hosts = [] } = order
      if (hosts.length === 0)
        return { result: 'elsewhere', reason: 'Cannot answer HTTP authentication: no allowed hosts given' }
      auth.answer = { user, password: value, hosts }
      return { result: 'done' }
    })
  }

  /** Answers with the keys as they are now, those that pages have made too. */
  async passkeys(order: PasskeysOrder, signal: AbortSignal): Promise<PasskeysState> {
    this.#passkeys.order(order)
    return this.#inTurn(signal, async ({ tabs }) => {
      await Promise.all([...tabs.values()].map((tab) => tab.updatePasskeys()))
      return { keys: [...this.#passkeys.all] }
    })
  }

  async photo(order: PhotoOrder, signal: AbortSignal): Promise<Photo> {
    return this.#inTurn(signal, async (conversation) => photoOf(currentOf(conversation), order))
  }

  async #visitHere(
    conversation: Conversation,
    order: VisitOrder,
    signal: AbortSignal,
  ): Promise<PageSnapshot> {
    const [main, ...popups] = conversation.stack
    for (const { targetId } of popups) conversation.cdp.dispatch('Target.closeTarget', { targetId })
    conversation.stack = [main!]
    if (main!.isStuck) await this.#replace(conversation, main!)
    const current = () => currentOf(conversation)
    const { isQuiet, failure } = await this.#goTo(current(), current, order, signal)
    const snapshot = await this.#snapshot(current, isQuiet, conversation)
    return { ...snapshot, failure: failure ?? snapshot.failure }
  }

  async #visitAside(
    conversation: Conversation,
    order: VisitOrder,
    signal: AbortSignal,
  ): Promise<PageSnapshot> {
    const { cdp } = conversation
    const targetId = await newPage(cdp, { background: true })
    try {
      const { sessionId } = await cdp.call<{ sessionId: string }>('Target.attachToTarget', {
        targetId,
        flatten: true,
      })
      const tab = this.#newTab(conversation, { targetId, sessionId })
      await tab.begin({ isWaiting: false })
      const { isQuiet, failure } = await this.#goTo(tab, () => tab, order, signal)
      const snapshot = snapshotOf(tab, {
        content: await this.#readContent(() => tab),
        isQuiet,
        isPopup: false,
      })
      return { ...snapshot, failure: failure ?? snapshot.failure }
    } finally {
      cdp.dispatch('Target.closeTarget', { targetId })
    }
  }

  async #goTo(tab: Tab, current: () => Tab, order: VisitOrder, signal: AbortSignal) {
    const { url, quiet_ms: quietMs, most_ms: maxMs } = order
    const deadline = performance.now() + maxMs
    // Bypass the cache to see the current state, because `304 Not Modified` would show the old page.
    const bypass = (cacheDisabled: boolean) =>
      tab.cdp.dispatch('Network.setCacheDisabled', { cacheDisabled }, tab.sessionId)
    bypass(true)
    // Resolves when the new document has arrived, which may never happen.
    const asked = tab.navigate(url, maxMs + 1_000).catch(() => null)
    try {
      const isQuiet = await whenQuiet(current, { quietMs, deadline, signal })
      const failure = isQuiet ? await asked : null
      return { isQuiet, failure }
    } finally {
      bypass(false)
    }
  }

  async #whenChanged(current: () => Tab, deadline: number, signal: AbortSignal): Promise<void> {
    const before = this.#lastLook
    let changes: number | undefined
    if (!before) return
    while (performance.now() < deadline) {
      signal.throwIfAborted()
      const tab = current()
      if (tab.document.number !== before.document || tab.hasDialogs) return
      const now = await changesOf(tab)
      if (now !== undefined && now !== changes) {
        changes = now
        const seen = await this.#readContent(current)
        if (fingerprintOf(seen) !== before.fingerprint) return
      }
      await pause(LOOK_EVERY_MS, signal)
    }
  }

  async #snapshot(current: () => Tab, isQuiet: boolean, conversation: Conversation): Promise<PageSnapshot> {
    const seen = await this.#readContent(current)
    const tab = current()
    this.#lastLook = { document: tab.document.number, fingerprint: fingerprintOf(seen) }
    return snapshotOf(tab, { content: seen, isQuiet, isPopup: tab !== conversation.stack[0] })
  }

  /** Tries again when the page navigates during the look, as long as there is time. */
  async #readContent(current: () => Tab): Promise<PageContent> {
    const deadline = performance.now() + READ_MS
    for (;;) {
      const tab = current()
      const { number } = tab.document
      const seen = await readContent(tab).catch(() => undefined)
      const isSame = tab === current() && tab.document.number === number
      if (seen && isSame) return seen
      if (performance.now() < deadline) await pause(AGAIN_MS)
      else return seen ?? emptyContent(tab.document.url)
    }
  }

  async #inTurn<T>(signal: AbortSignal, work: (conversation: Conversation) => Promise<T>): Promise<T> {
    const turn = await this.#turns.enter(signal)
    using acquired = new DisposableStack()
    acquired.use(turn)
    clearTimeout(this.#idleTimer)
    acquired.defer(() => this.#rest())
    const conversation = await this.#converse()
    try {
      return await work(conversation)
    } catch (error) {
      if (this.#conversation === conversation) throw error
      throw new BrowserGone('Chromium ended during the request', { cause: error })
    }
  }

  /** Makes sure that there is a page, also after a restart of Chromium or when the page was closed. */
  async #converse(): Promise<Conversation> {
    const conversation = this.#conversation ?? (await this.#connect())
    if (conversation.stack.length > 0) return conversation
    try {
      await this.#takeFirstPage(conversation)
      return conversation
    } catch (error) {
      // Chromium is probably ending. The next one has a page.
      const isOver = await Promise.race([conversation.cdp.closed.then(() => true), pause(ENDING_MS)])
      if (isOver !== true) throw new BrowserGone('Chromium does not open a page', { cause: error })
      return this.#connect()
    }
  }

  async #connect(): Promise<Conversation> {
    const { devtools_path: path, browser } = await this.#chromium.whenOpen(CHROMIUM_MS)
    if (path === null) throw new BrowserGone(`Chromium is ${browser}, not ready`)
    const early: CdpEvent[] = []
    let take = (event: CdpEvent): void => void early.push(event)
    const cdp = await CdpConnection.open(this.#chromium.port, path, (event) => take(event), { isWanted })
    const conversation: Conversation = {
      cdp,
      auth: new HttpAuth(),
      tabs: new Map(),
      stack: [],
      isBeginning: false,
    }
    take = (event) => this.#take(conversation, event)
    for (const event of early) take(event)
    this.#conversation = conversation
    void cdp.closed.then(() => this.#forget(conversation))
    await this.#takeFirstPage(conversation)
    // Hold popups until we listen, so that we see their first requests. Other pages continue at once.
    const follow = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true, filter: PAGES_ONLY }
    conversation.isBeginning = true
    await cdp.call('Target.setAutoAttach', follow)
    conversation.isBeginning = false
    return conversation
  }

  /** Keeps the connection longer than any login waits, because it answers the dialogs and prompts of the page. */
  #rest(): void {
    this.#idleTimer = setTimeout(() => this.#conversation?.cdp.close(), IDLE_MS)
    this.#idleTimer.unref()
  }

  #forget(conversation: Conversation): void {
    for (const tab of conversation.tabs.values()) tab.close()
    if (this.#conversation === conversation) this.#conversation = undefined
  }

  async #replace(conversation: Conversation, { targetId }: Tab): Promise<void> {
    // Open the new page first, because Chromium exits without a page.
    const fresh = await newPage(conversation.cdp)
    conversation.cdp.dispatch('Target.closeTarget', { targetId })
    conversation.stack = []
    await this.#takePage(conversation, fresh)
  }

  async #takeFirstPage(conversation: Conversation): Promise<void> {
    const { cdp } = conversation
    const { targetInfos } = await cdp.call<{ targetInfos: TargetInfo[] }>('Target.getTargets')
    const first = targetInfos.find(({ type }) => type === 'page')
    await this.#takePage(conversation, first?.targetId ?? (await newPage(cdp)))
  }

  async #takePage(conversation: Conversation, targetId: string): Promise<void> {
    const { cdp } = conversation
    const attached = { targetId, flatten: true }
    const { sessionId } = await cdp.call<{ sessionId: string }>(
      'Target.attachToTarget',
      attached,
      undefined,
      ATTACH_MS,
    )
    const tab = this.#newTab(conversation, { targetId, sessionId })
    conversation.stack.push(tab)
    await tab.begin({ isWaiting: false })
  }

  #newTab(conversation: Conversation, place: { targetId: string; sessionId: string }): Tab {
    const { cdp, auth, tabs } = conversation
    const tab = new Tab({
      cdp,
      auth,
      passkeys: this.#passkeys,
      ...place,
      nextNumber: () => ++this.#number,
      mayLeaveTo: (url) => this.mayLeaveTo?.(url) ?? true,
    })
    tabs.set(place.sessionId, tab)
    return tab
  }

  #take(conversation: Conversation, event: CdpEvent): void {
    const { cdp, tabs } = conversation
    const { method, params, sessionId } = event
    if (sessionId === undefined) {
      if (method === 'Target.attachedToTarget') this.#onPage(conversation, params as unknown as Attached)
      if (method === 'Target.detachedFromTarget') this.#onLeft(conversation, params['sessionId'] as string)
      return
    }
    for (const tab of tabs.values()) {
      if (tab.owns(sessionId)) return tab.take(event)
    }
    // The frame is no longer tracked. Continue its request, or it would hang.
    if (method === 'Fetch.requestPaused')
      cdp.dispatch('Fetch.continueRequest', { requestId: params['requestId'] }, sessionId)
  }

  #onPage(conversation: Conversation, { sessionId, targetInfo, waitingForDebugger }: Attached): void {
    const { cdp, stack, tabs } = conversation
    const { targetId, openerId } = targetInfo
    const isKnown = [...tabs.values()].some((tab) => tab.targetId === targetId)
    const isPopup = openerId !== undefined && stack.some((tab) => tab.targetId === openerId)
    if (isPopup && !isKnown) {
      const popup = this.#newTab(conversation, { targetId, sessionId })
      stack.push(popup)
      void popup.begin({ isWaiting: waitingForDebugger }).catch(() => {})
      return
    }
    if (tabs.has(sessionId)) return
    // A page without an opener is not one of the login, and would be out of its sight. It ends before it shows anything.
    if (waitingForDebugger && this.mayLeaveTo && !this.mayLeaveTo(targetInfo.url)) {
      return void cdp.dispatch('Target.closeTarget', { targetId })
    }
    if (waitingForDebugger) cdp.dispatch('Runtime.runIfWaitingForDebugger', {}, sessionId)
    // The page belongs to another client, or we are already attached to it.
    if (waitingForDebugger || conversation.isBeginning) cdp.dispatch('Target.detachFromTarget', { sessionId })
  }

  #onLeft(conversation: Conversation, sessionId: string): void {
    const tab = conversation.tabs.get(sessionId)
    if (!tab) return
    tab.close()
    conversation.tabs.delete(sessionId)
    const wasCurrent = conversation.stack.at(-1) === tab
    conversation.stack = conversation.stack.filter((each) => each !== tab)
    if (wasCurrent) conversation.stack.at(-1)?.renumber()
  }
}

function currentOf({ stack }: Pick<Conversation, 'stack'>): Tab {
  const tab = stack.at(-1)
  if (!tab) throw new BrowserGone('The page was closed')
  return tab
}

async function newPage(cdp: CdpConnection, options: { background?: boolean } = {}): Promise<string> {
  const page = { url: 'about:blank', ...options }
  return (await cdp.call<{ targetId: string }>('Target.createTarget', page)).targetId
}

function snapshotOf(
  tab: Tab,
  state: { content: PageContent; isQuiet: boolean; isPopup: boolean },
): PageSnapshot {
  const { number, url, status, headers, failure } = tab.document
  return {
    document: number,
    url,
    status,
    failure: tab.isCrashed ? 'the page crashed' : failure,
    headers,
    frames: state.content.frames,
    elements: state.content.elements,
    http_auth: tab.askedAuth,
    dialogs: tab.takeDialogs(),
    is_quiet: state.isQuiet,
    is_loading: tab.isNavigating || tab.traffic.isBusy,
    is_polling: tab.traffic.isPolling,
    is_popup: state.isPopup,
    storage: state.content.storage,
  }
}

const wanted = new Set([
  'Target.attachedToTarget',
  'Target.detachedFromTarget',
  'Inspector.targetCrashed',
  'Page.frameNavigated',
  'Page.frameDetached',
  'Page.navigatedWithinDocument',
  'Page.frameScheduledNavigation',
  'Page.frameClearedScheduledNavigation',
  'Page.javascriptDialogOpening',
  'Network.requestWillBeSent',
  'Network.responseReceived',
  'Network.loadingFinished',
  'Network.loadingFailed',
  'Fetch.requestPaused',
  'Fetch.authRequired',
  'WebAuthn.credentialAdded',
  'WebAuthn.credentialAsserted',
])

/** Skips most events before parsing, because parsing them would be most of the work. */
function isWanted(text: string): boolean {
  if (!text.startsWith(METHOD_START)) return true
  return wanted.has(text.slice(METHOD_START.length, text.indexOf('"', METHOD_START.length)))
}
