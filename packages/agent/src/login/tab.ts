// One page of the browser with all its frames, including frames in separate processes. Tracks what a login needs: the
// document and its response, pending requests, and dialogs and prompts.
import type { CdpConnection, CdpEvent } from '../cdp/cdp-connection.ts'
import { MAX_MESSAGE_LENGTH, MAX_URL_LENGTH } from './bounds.ts'
import type { AskedAuth, Challenge, HttpAuth } from './http-auth.ts'
import { PagePasskeys, type Credential, type Passkeys } from './passkeys.ts'
import { Traffic } from './traffic.ts'
import { SOURCE, World, WORLD } from './world.ts'

const SET_UP_MS = 5_000
const MAX_DIALOGS = 10
const BLOCKED_MS = 1_000
const MAX_NAVIGATIONS = 5
/** After this many dialogs of one document its script is stopped, because it shows them in a loop. */
const TOO_MANY_DIALOGS = 30
const MAX_ANSWERS = 50
const MAX_SESSIONS = 60
const TOLD_HEADERS = new Set(['www-authenticate', 'retry-after', 'server', 'cf-mitigated', 'proxy-status'])
const SHORT = 300
/** Scheduled navigations further away do not delay a quiet page. */
const SOON_SECONDS = 10

const ENABLE_NETWORK = { maxTotalBufferSize: 0, maxResourceBufferSize: 0, maxPostDataSize: 0 }
/** Requests pass unchanged. Chromium reports HTTP authentication only for requests that it pauses for us. */
const ENABLE_FETCH = {
  handleAuthRequests: true,
  patterns: ['Document', 'XHR', 'Fetch'].map((resourceType) => ({ urlPattern: '*', resourceType })),
}
const STILL = [{ name: 'prefers-reduced-motion', value: 'reduce' }]
/**
 * Chromium stops whatever a page starts, also what we exclude, and then nobody would let it run. So only workers that
 * belong to the browser are excluded, which it does not stop for a page.
 */
const OF_PAGE = [
  ...['browser', 'tab', 'service_worker', 'shared_worker'].map((type) => ({ type, exclude: true })),
  {},
]

export interface TargetInfo {
  readonly targetId: string
  readonly type: string
  readonly url: string
  readonly openerId?: string
}

export interface Attached {
  readonly sessionId: string
  readonly targetInfo: TargetInfo
  readonly waitingForDebugger: boolean
}

export interface Frame {
  readonly id: string
  readonly parentId?: string
  readonly loaderId: string
  readonly url: string
  readonly urlFragment?: string
  readonly securityOrigin: string
  readonly unreachableUrl?: string
}

interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

export interface MainDocument {
  readonly number: number
  readonly url: string
  readonly status: number | null
  readonly headers: Readonly<Record<string, string>>
  readonly failure: string | null
  readonly since: number
}

export interface TabOptions {
  readonly cdp: CdpConnection
  readonly targetId: string
  readonly sessionId: string
  readonly auth: HttpAuth
  readonly passkeys: Passkeys
  readonly nextNumber: () => number
  /** Whether the page may go to an address now. */
  readonly mayLeaveTo: (url: string) => boolean
}

export class Tab {
  readonly targetId: string
  readonly sessionId: string
  readonly cdp: CdpConnection
  readonly traffic = new Traffic()
  readonly #passkeys: PagePasskeys
  readonly #auth: HttpAuth
  readonly #nextNumber: () => number
  readonly #mayLeaveTo: (url: string) => boolean
  /** Sessions of the page and of frames in separate processes. */
  readonly #sessions: Map<string, { readonly frameId: string }>
  readonly #worlds = new Map<string, Promise<World>>()
  /** Responses by loader, for documents that are not shown yet. */
  readonly #answers = new Map<string, Answered>()
  readonly #failures = new Map<string, string>()
  readonly #scheduled = new Set<string>()
  #document: MainDocument
  #dialogs: string[] = []
  #dialogCount = 0
  #comingAuth: AskedAuth | null = null
  #askedAuth: AskedAuth | null = null
  #isCrashed = false
  #isStuck = false
  #isClosed = false
  #usedAt = -Infinity
  /** Number of requested navigations that are not finished. */
  #navigations = 0

  constructor({ cdp, targetId, sessionId, auth, passkeys, nextNumber, mayLeaveTo }: TabOptions) {
    this.cdp = cdp
    this.targetId = targetId
    this.sessionId = sessionId
    this.#auth = auth
    this.#passkeys = new PagePasskeys(cdp, sessionId, passkeys)
    this.#nextNumber = nextNumber
    this.#mayLeaveTo = mayLeaveTo
    this.#sessions = new Map([[sessionId, { frameId: targetId }]])
    this.#document = this.#newDocument('about:blank')
  }

  get document(): MainDocument {
    return this.#document
  }

  get sessions(): readonly string[] {
    return [...this.#sessions.keys()]
  }

  /** When the last act on the page ended. */
  get usedAt(): number {
    return this.#usedAt
  }

  get isCrashed(): boolean {
    return this.#isCrashed
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  get askedAuth(): AskedAuth | null {
    return this.#askedAuth
  }

  get hasDialogs(): boolean {
    return this.#dialogs.length > 0
  }

  /** Whether a navigation is pending or scheduled. */
  get isNavigating(): boolean {
    return this.#navigations > 0 || this.#scheduled.size > 0
  }

  /** Returns the dialogs since the last call. */
  takeDialogs(): string[] {
    return this.#dialogs.splice(0)
  }

  /** Called when this page becomes the current one. */
  renumber(): void {
    this.#document = { ...this.#document, number: this.#nextNumber(), since: performance.now() }
  }

  /** Resolves when we listen to the page, or after a timeout. A stuck page is replaced at the next visit. */
  async begin({ isWaiting }: { isWaiting: boolean }): Promise<void> {
    const set = this.#listenTo(this.sessionId, { isWaiting })
    this.#isStuck = await this.#learnAddress().then(
      () => false,
      () => true,
    )
    await Promise.allSettled(set)
  }

  async #learnAddress(): Promise<void> {
    const { frameTree } = await this.cdp.call<{ frameTree: { frame: Frame } }>(
      'Page.getFrameTree',
      {},
      this.sessionId,
      SET_UP_MS,
    )
    if (this.#document.url === 'about:blank') {
      this.#document = { ...this.#document, url: addressOf(frameTree.frame) }
    }
  }

  /** After the keys of the login have changed. */
  async updatePasskeys(): Promise<void> {
    await this.#passkeys.prepareFor(this.#document.url)
  }

  used(): void {
    this.#usedAt = performance.now()
  }

  close(): void {
    this.#isClosed = true
    for (const world of this.#worlds.values()) void world.then((each) => each.end()).catch(() => {})
  }

  owns(sessionId: string): boolean {
    return this.#sessions.has(sessionId)
  }

  /** Returns an error text, or null on success. Tries again when the page itself navigates in between. */
  async navigate(url: string, answerMs: number): Promise<string | null> {
    return this.whileNavigating(async () => {
      await this.#endWhatBlocks()
      for (let attempt = 1; ; attempt++) {
        const { number } = this.#document
        const { errorText = null } = await this.cdp.call<{ errorText?: string }>(
          'Page.navigate',
          { url },
          this.sessionId,
          answerMs,
        )
        const isDisplaced = errorText === 'net::ERR_ABORTED' && this.#document.number !== number
        if (!isDisplaced || attempt >= MAX_NAVIGATIONS) return errorText
      }
    })
  }

  /** Whether the page is beyond recovery and must be replaced. */
  get isStuck(): boolean {
    return this.#isStuck
  }

  /** Stops endless scripts, because the next document may share the process and would wait for them. */
  async #endWhatBlocks(): Promise<void> {
    for (const remedy of ['Runtime.terminateExecution', 'Page.crash']) {
      if (await this.#isFree()) return
      this.cdp.dispatch(remedy, {}, this.sessionId)
    }
    this.#isStuck = !(await this.#isFree())
  }

  async #isFree(): Promise<boolean> {
    if (this.#isCrashed) return true
    const asked = this.cdp.call('Runtime.evaluate', { expression: '1' }, this.sessionId, BLOCKED_MS)
    return asked.then(
      () => true,
      () => this.#isCrashed,
    )
  }

  async whileNavigating<T>(act: () => Promise<T>): Promise<T> {
    this.#navigations++
    try {
      return await act()
    } finally {
      this.#navigations--
    }
  }

  worldOf(frame: Frame, sessionId: string): Promise<World> {
    const known = this.#worlds.get(frame.id)
    if (known) return known
    const world = World.open(this.cdp, frame.id, sessionId)
    this.#worlds.set(frame.id, world)
    world.catch(() => {
      if (this.#worlds.get(frame.id) === world) this.#worlds.delete(frame.id)
    })
    return world
  }

  /** The world of an element, if its document still exists. */
  async worldOfRef(ref: string): Promise<World | undefined> {
    const [prefix] = ref.split(':', 1)
    const worlds = await Promise.allSettled(this.#worlds.values())
    const found = worlds.find((each) => each.status === 'fulfilled' && each.value.prefix === prefix)
    return found?.status === 'fulfilled' ? found.value : undefined
  }

  take({ method, params, sessionId = '' }: CdpEvent): void {
    this.#handlers[method]?.(params as never, sessionId)
  }

  readonly #handlers: Readonly<Record<string, (params: never, sessionId: string) => void>> = {
    'Target.attachedToTarget': (params: Attached, sessionId: string) => this.#onAttached(params, sessionId),
    'Target.detachedFromTarget': ({ sessionId }: { sessionId: string }) => this.#onFrameLeft(sessionId),
    'Inspector.targetCrashed': (_none: object, sessionId: string) => {
      if (sessionId === this.sessionId) this.#onCrashed()
    },
    'Page.frameNavigated': ({ frame }: { frame: Frame }, sessionId: string) =>
      this.#onNavigated(frame, sessionId),
    'Page.frameDetached': ({ frameId }: { frameId: string }) => this.#endWorld(frameId),
    'Page.navigatedWithinDocument': ({ frameId, url }: { frameId: string; url: string }) => {
      if (frameId === this.targetId) this.#document = { ...this.#document, url: url.slice(0, MAX_URL_LENGTH) }
    },
    'Page.frameScheduledNavigation': ({ frameId, delay }: { frameId: string; delay: number }) => {
      if (frameId === this.targetId && delay <= SOON_SECONDS) this.#scheduled.add(frameId)
    },
    'Page.frameClearedScheduledNavigation': ({ frameId }: { frameId: string }) =>
      void this.#scheduled.delete(frameId),
    'Page.javascriptDialogOpening': (params: { type: string; message: string }, sessionId: string) =>
      this.#onDialog(params, sessionId),
    'Network.requestWillBeSent': (
      params: {
        requestId: string
        loaderId: string
        type?: string
        request: { url: string; method: string }
      },
      sessionId: string,
    ) => {
      const { requestId, loaderId, type = 'Other', request } = params
      this.traffic.begin(sessionId, { requestId, loaderId, type, url: request.url, method: request.method })
    },
    'Network.responseReceived': (params: {
      requestId: string
      frameId?: string
      type: string
      response: { status: number; headers: Record<string, string> }
    }) => {
      const { requestId, frameId, type, response } = params
      this.traffic.answered(requestId)
      if (type === 'Document' && frameId === this.targetId)
        keep(this.#answers, requestId, answeredBy(response))
    },
    'Network.loadingFinished': ({ requestId }: { requestId: string }) => this.traffic.end(requestId),
    'Network.loadingFailed': (params: { requestId: string; type: string; errorText: string }) => {
      this.traffic.end(params.requestId)
      if (params.type === 'Document') keep(this.#failures, params.requestId, params.errorText)
    },
    'Fetch.requestPaused': (params: Paused, sessionId: string) => {
      const { requestId, request, resourceType, frameId } = params
      const isPage = resourceType === 'Document' && frameId === this.targetId
      if (isPage && !this.#mayLeaveTo(request.url)) {
        const errorReason = 'BlockedByClient'
        return void this.cdp.dispatch('Fetch.failRequest', { requestId, errorReason }, sessionId)
      }
      const goOn = () => this.cdp.dispatch('Fetch.continueRequest', { requestId }, sessionId)
      const prepared = isPage ? this.#passkeys.prepareFor(request.url) : undefined
      if (prepared) void prepared.then(goOn)
      else goOn()
    },
    'WebAuthn.credentialAdded': ({ credential }: { credential: Credential }) =>
      this.#passkeys.made(credential),
    'WebAuthn.credentialAsserted': ({ credential }: { credential: Credential }) =>
      this.#passkeys.used(credential),
    'Fetch.authRequired': (params: AuthRequired, sessionId: string) => this.#onAuth(params, sessionId),
  }

  #listenTo(sessionId: string, { isWaiting }: { isWaiting: boolean }): Promise<unknown>[] {
    const isPage = sessionId === this.sessionId
    const call = (method: string, params: object = {}) => this.cdp.call(method, params, sessionId, SET_UP_MS)
    const follow = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true, filter: OF_PAGE }
    const sent = [
      call('Page.enable'),
      call('Inspector.enable'),
      call('Network.enable', ENABLE_NETWORK),
      call('Fetch.enable', ENABLE_FETCH),
      call('Page.addScriptToEvaluateOnNewDocument', {
        source: SOURCE,
        worldName: WORLD,
        runImmediately: true,
      }),
      call('Target.setAutoAttach', follow),
      // Background pages must behave as if they had the focus.
      ...(isPage ? [call('Emulation.setFocusEmulationEnabled', { enabled: true })] : []),
      // Painting an animation without a graphics card can keep a page from answering.
      ...(isPage ? [call('Emulation.setEmulatedMedia', { features: STILL })] : []),
    ]
    for (const each of sent) each.catch(() => {})
    if (isWaiting) this.cdp.dispatch('Runtime.runIfWaitingForDebugger', {}, sessionId)
    return sent
  }

  #onAttached({ sessionId, targetInfo, waitingForDebugger }: Attached, parent: string): void {
    if (targetInfo.type !== 'iframe' || this.#sessions.size >= MAX_SESSIONS) {
      return void this.#release(sessionId, parent)
    }
    this.#sessions.set(sessionId, { frameId: targetInfo.targetId })
    this.#endWorld(targetInfo.targetId)
    void this.#listenTo(sessionId, { isWaiting: waitingForDebugger })
  }

  /** Lets a worker run, and what it starts. Detaching before it runs would stop it for good. */
  async #release(sessionId: string, parent: string): Promise<void> {
    await this.cdp.call('Runtime.runIfWaitingForDebugger', {}, sessionId, SET_UP_MS).catch(() => undefined)
    this.cdp.dispatch('Target.detachFromTarget', { sessionId }, parent)
  }

  #onFrameLeft(sessionId: string): void {
    const session = this.#sessions.get(sessionId)
    if (!session || sessionId === this.sessionId) return
    this.#sessions.delete(sessionId)
    this.traffic.forget(sessionId)
    for (const world of this.#worlds.values()) {
      void world.then((each) => each.sessionId === sessionId && each.end()).catch(() => {})
    }
    this.#endWorld(session.frameId)
  }

  #onCrashed(): void {
    this.#isCrashed = true
    for (const frameId of this.#worlds.keys()) this.#endWorld(frameId)
  }

  #onNavigated(frame: Frame, sessionId: string): void {
    this.#endWorld(frame.id)
    this.#scheduled.delete(frame.id)
    if (sessionId !== this.sessionId || frame.parentId !== undefined) return
    this.#isCrashed = false
    // The navigation worked after all, so keep the page.
    this.#isStuck = false
    this.#dialogCount = 0
    this.traffic.keepOnly(frame.loaderId)
    const answer = this.#answers.get(frame.loaderId)
    const failure =
      frame.unreachableUrl === undefined
        ? refusalOf(answer)
        : (this.#failures.get(frame.loaderId) ?? 'net::ERR_FAILED')
    const { status = null, headers = {} } = failure === null ? (answer ?? {}) : {}
    this.#answers.clear()
    this.#failures.clear()
    this.#askedAuth = this.#comingAuth
    this.#comingAuth = null
    this.#document = {
      ...this.#newDocument(addressOf(frame)),
      status,
      headers,
      failure: failure?.slice(0, SHORT) ?? null,
    }
    // Not every document is asked for over the network.
    void this.#passkeys.prepareFor(this.#document.url)
  }

  #onDialog({ type, message }: { type: string; message: string }, sessionId: string): void {
    if (type !== 'beforeunload' && this.#dialogs.length < MAX_DIALOGS) {
      this.#dialogs.push(message.slice(0, MAX_MESSAGE_LENGTH))
    }
    // Confirm leaving a page. Decline every other question, because only a user may answer it.
    this.cdp.dispatch('Page.handleJavaScriptDialog', { accept: type === 'beforeunload' }, sessionId)
    if (++this.#dialogCount % TOO_MANY_DIALOGS === 0) {
      this.cdp.dispatch('Runtime.terminateExecution', {}, sessionId)
    }
  }

  #onAuth({ requestId, frameId, resourceType, authChallenge }: AuthRequired, sessionId: string): void {
    const { response: authChallengeResponse, asked } = this.#auth.decide(requestId, authChallenge)
    if (asked) {
      // A challenge of the next main document is reported together with that document.
      if (resourceType === 'Document' && frameId === this.targetId) this.#comingAuth = asked
      else this.#askedAuth = asked
    }
    this.cdp.dispatch('Fetch.continueWithAuth', { requestId, authChallengeResponse }, sessionId)
  }

  #endWorld(frameId: string): void {
    const world = this.#worlds.get(frameId)
    this.#worlds.delete(frameId)
    void world?.then((each) => each.end()).catch(() => {})
  }

  #newDocument(url: string): MainDocument {
    const since = performance.now()
    return { number: this.#nextNumber(), url, status: null, headers: {}, failure: null, since }
  }
}

interface Paused {
  readonly requestId: string
  readonly request: { readonly url: string }
  readonly resourceType: string
  readonly frameId: string
}

interface AuthRequired {
  readonly requestId: string
  readonly frameId: string
  readonly resourceType: string
  readonly authChallenge: Challenge
}

function addressOf({ url, urlFragment = '', unreachableUrl }: Frame): string {
  return (unreachableUrl ?? url + urlFragment).slice(0, MAX_URL_LENGTH)
}

function answeredBy({ status, headers }: { status: number; headers: Record<string, string> }): Answered {
  const told = Object.entries(headers)
    .map(([name, value]) => [name.toLowerCase(), value.slice(0, SHORT)] as const)
    .filter(([name]) => TOLD_HEADERS.has(name))
  return { status, headers: Object.fromEntries(told) }
}

/** The error of the egress, if it could not reach the website. Over plain HTTP the error looks like a page. */
function refusalOf(answer: Answered | undefined): string | null {
  // A website could send this header too, but only with this exact format, not with text of its own.
  return /^berth; error=([a-z_]{1,60})$/.exec(answer?.headers['proxy-status'] ?? '')?.[1] ?? null
}

function keep<T>(map: Map<string, T>, key: string, value: T): void {
  if (map.size >= MAX_ANSWERS) map.clear()
  map.set(key, value)
}
