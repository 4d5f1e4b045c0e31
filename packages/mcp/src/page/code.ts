// What runs inside the session; see in-session.ts. Each function is whole in itself.
import type { Download, Frame, Locator, Page } from 'playwright-core'
import type { Scope } from './in-session.ts'

export interface Where {
  readonly url: string
  readonly title: string
}

export interface SnapshotArgs {
  readonly ref: string | null
  readonly depth: number | null
  readonly maxLength: number
  readonly timeoutMs: number
}

export interface Snapshot extends Where {
  readonly snapshot: string
  /** Of the whole snapshot, before it was cut. */
  readonly length: number
  /** What is typed into password fields. */
  readonly typed: readonly string[]
}

export async function takeSnapshot({ page }: Scope, args: SnapshotArgs): Promise<Snapshot> {
  const options = {
    mode: 'ai' as const,
    timeout: args.timeoutMs,
    ...(args.depth !== null && { depth: args.depth }),
  }
  const whole = await (args.ref === null
    ? page.ariaSnapshot(options)
    : page.getByRef(args.ref).ariaSnapshot(options))
  // oxlint-disable-next-line unicorn/consistent-function-scoping -- only this function is sent to the session
  const typedIn = (frame: Frame): Promise<string[]> => {
    const values = frame
      .locator('input[type="password"]')
      .evaluateAll((fields) => fields.slice(0, 50).map((field) => (field as { value?: unknown }).value))
      .then((found) => found.filter((value): value is string => typeof value === 'string' && value !== ''))
    // A frame that hangs must not hold up the others.
    const soon = new Promise<string[]>((resolve) => setTimeout(() => resolve([]), 1_000))
    return Promise.race([values.catch(() => []), soon])
  }
  const typed = (await Promise.all(page.frames().map(typedIn))).flat()
  return {
    url: page.url(),
    title: await page.title(),
    snapshot: whole.slice(0, args.maxLength),
    length: whole.length,
    typed,
  }
}

export type Act =
  | {
      readonly kind: 'click'
      readonly target: Target
      readonly button: 'left' | 'right' | 'middle'
      readonly count: number
      readonly modifiers: readonly string[]
    }
  | { readonly kind: 'hover'; readonly target: Target }
  | { readonly kind: 'drag'; readonly target: Target; readonly to: Target }
  | {
      readonly kind: 'type'
      readonly target: Target
      readonly text: string
      readonly isSlow: boolean
      readonly isSubmitted: boolean
    }
  | { readonly kind: 'press'; readonly target: Target | null; readonly key: string }
  | { readonly kind: 'select'; readonly target: Target; readonly values: readonly string[] }
  | { readonly kind: 'fill'; readonly fields: readonly FilledField[] }
  | { readonly kind: 'upload'; readonly target: Target; readonly paths: readonly string[] }
  | {
      readonly kind: 'navigate'
      readonly url: string
      readonly waitUntil: 'load' | 'domcontentloaded' | 'commit'
    }
  | { readonly kind: 'history'; readonly step: 'back' | 'forward' | 'reload' }

export interface Target {
  readonly ref: string | null
  readonly selector: string | null
}

export interface FilledField extends Target {
  readonly value: string | boolean
}

export interface ActArgs {
  readonly act: Act
  readonly timeoutMs: number
}

export interface Downloaded {
  readonly name: string
  readonly path: string | null
  readonly failure: string | null
}

export interface Acted extends Where {
  readonly status: number | null
  readonly newTabs: readonly string[]
  readonly downloads: readonly Downloaded[]
  readonly selected: readonly string[] | null
}

export async function act({ page, context }: Scope, { act: what, timeoutMs }: ActArgs): Promise<Acted> {
  const timeout = timeoutMs
  const at = ({ ref, selector }: Target): Locator =>
    ref === null ? page.locator(selector ?? '') : page.getByRef(ref)

  // Playwright's own copies end with its connection. The folder is where file dialogs look first. What is remembered
  // here stays as long as this process, so downloads are kept, too, that begin when no call is running.
  interface Kept {
    readonly watched: WeakSet<object>
    readonly results: WeakMap<object, Promise<Downloaded>>
  }
  const folder = '/home/kernel/Downloads'
  const key = Symbol.for('berth.downloads')
  const store = globalThis as unknown as Record<symbol, Kept | undefined>
  const { watched, results } = (store[key] ??= { watched: new WeakSet(), results: new WeakMap() })
  const keep = async (download: Download): Promise<Downloaded> => {
    const name = download.suggestedFilename()
    const { existsSync } = await import('node:fs')
    const dot = name.lastIndexOf('.')
    const [stem, end] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, '']
    let path = `${folder}/${name}`
    for (let number = 1; existsSync(path) && number < 100; number++)
      path = `${folder}/${stem} (${number})${end}`
    try {
      await download.saveAs(path)
      return { name, path, failure: null }
    } catch (error) {
      return { name, path: null, failure: (error as Error).message.slice(0, 300) }
    }
  }
  const watch = (each: Page) => {
    if (watched.has(each)) return
    watched.add(each)
    each.on('download', (download) => void results.set(download, keep(download)))
  }
  for (const each of context.pages()) watch(each)
  if (!watched.has(context)) {
    watched.add(context)
    context.on('page', watch)
  }
  const downloads: Promise<Downloaded>[] = []
  const onDownload = (download: Download) => {
    const name = download.suggestedFilename()
    const late = { name, path: null, failure: 'it is still running; list /home/kernel/Downloads later' }
    const soon = new Promise<Downloaded>((resolve) => setTimeout(() => resolve(late), timeout))
    downloads.push(Promise.race([results.get(download) ?? soon, soon]))
  }
  page.on('download', onDownload)
  const opened: Page[] = []
  const onPage = (each: Page) => void opened.push(each)
  context.on('page', onPage)
  let isNavigating = false
  const onRequest = (request: { isNavigationRequest(): boolean; frame(): Frame }) => {
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) isNavigating = true
  }
  page.on('request', onRequest)

  const fillOne = async (field: FilledField) => {
    const { value } = field
    const locator = at(field)
    if (typeof value === 'boolean') {
      await locator.setChecked(value, { timeout })
      return
    }
    const tag = await locator.evaluate((node) => node.nodeName, undefined, { timeout })
    if (tag === 'SELECT') await locator.selectOption(value, { timeout })
    else await locator.fill(value, { timeout })
  }

  let status: number | null = null
  let selected: string[] | null = null
  try {
    switch (what.kind) {
      case 'click':
        await at(what.target).click({
          timeout,
          button: what.button,
          clickCount: what.count,
          // SAFETY: the schema allows only these names.
          modifiers: [...what.modifiers] as 'Shift'[],
        })
        break
      case 'hover':
        await at(what.target).hover({ timeout })
        break
      case 'drag':
        await at(what.target).dragTo(at(what.to), { timeout })
        break
      case 'type': {
        const locator = at(what.target)
        if (what.isSlow) await locator.pressSequentially(what.text, { timeout, delay: 30 })
        else await locator.fill(what.text, { timeout })
        if (what.isSubmitted) await locator.press('Enter', { timeout })
        break
      }
      case 'press':
        if (what.target === null) await page.keyboard.press(what.key)
        else await at(what.target).press(what.key, { timeout })
        break
      case 'select':
        selected = await at(what.target).selectOption([...what.values], { timeout })
        break
      case 'fill':
        for (const field of what.fields) await fillOne(field)
        break
      case 'upload': {
        const locator = at(what.target)
        const isField = await locator.evaluate(
          (node) => node.nodeName === 'INPUT' && (node as { type?: string }).type === 'file',
          undefined,
          { timeout },
        )
        if (isField) await locator.setInputFiles([...what.paths], { timeout })
        else {
          const choosing = page.waitForEvent('filechooser', { timeout })
          await Promise.all([choosing, locator.click({ timeout })])
          await (await choosing).setFiles([...what.paths], { timeout })
        }
        break
      }
      case 'navigate': {
        try {
          const response = await page.goto(what.url, { waitUntil: what.waitUntil, timeout })
          status = response?.status() ?? null
        } catch (error) {
          // An address that is a download is no page.
          if (!/Download is starting/.test((error as Error).message)) throw error
        }
        break
      }
      case 'history': {
        const options = { timeout, waitUntil: 'domcontentloaded' as const }
        const response = await (what.step === 'back'
          ? page.goBack(options)
          : what.step === 'forward'
            ? page.goForward(options)
            : page.reload(options))
        status = response?.status() ?? null
        break
      }
    }
    if (what.kind !== 'hover') {
      // What a click starts, it starts at once.
      await new Promise((resolve) => setTimeout(resolve, 300))
      if (isNavigating)
        await page
          .waitForLoadState('domcontentloaded', { timeout: Math.min(timeout, 10_000) })
          .catch(() => {})
    }
    return {
      url: page.url(),
      title: await page.title().catch(() => ''),
      status,
      selected,
      newTabs: opened.map((each) => each.url()),
      downloads: await Promise.all(downloads),
    }
  } finally {
    page.off('download', onDownload)
    page.off('request', onRequest)
    context.off('page', onPage)
  }
}

export interface WaitArgs {
  readonly text: string | null
  readonly textGone: string | null
  readonly target: Target
  readonly state: 'visible' | 'hidden' | 'attached' | 'detached'
  readonly url: string | null
  readonly load: 'load' | 'domcontentloaded' | 'networkidle' | null
  readonly seconds: number | null
  readonly timeoutMs: number
}

export async function waitFor({ page }: Scope, args: WaitArgs): Promise<Where> {
  const timeout = args.timeoutMs
  const { ref, selector } = args.target
  if (args.seconds !== null) await new Promise((resolve) => setTimeout(resolve, (args.seconds ?? 0) * 1000))
  if (args.load !== null) await page.waitForLoadState(args.load, { timeout })
  if (args.url !== null) {
    const part = args.url
    await page.waitForURL((url) => url.href.includes(part), { timeout, waitUntil: 'commit' })
  }
  if (args.text !== null) await page.getByText(args.text).first().waitFor({ state: 'visible', timeout })
  if (args.textGone !== null)
    await page.getByText(args.textGone).first().waitFor({ state: 'hidden', timeout })
  if (ref !== null || selector !== null) {
    const target = ref === null ? page.locator(selector ?? '').first() : page.getByRef(ref)
    await target.waitFor({ state: args.state, timeout })
  }
  return { url: page.url(), title: await page.title() }
}

export interface TabArgs {
  readonly action: 'new' | 'select' | 'close'
  readonly tabId: string | null
  readonly url: string | null
  readonly timeoutMs: number
}

export async function changeTabs(
  { page, context }: Scope,
  args: TabArgs,
): Promise<Where & { found: boolean }> {
  const timeout = args.timeoutMs
  let chosen: Page | undefined
  if (args.action === 'new') {
    chosen = await context.newPage()
    if (args.url !== null) await chosen.goto(args.url, { timeout, waitUntil: 'domcontentloaded' })
  } else {
    for (const each of args.tabId === null ? [] : context.pages()) {
      const cdp = await context.newCDPSession(each)
      const { targetInfo } = await cdp.send('Target.getTargetInfo')
      await cdp.detach()
      if (targetInfo.targetId === args.tabId) chosen = each
    }
    if (args.tabId === null) chosen = page
  }
  if (!chosen) return { found: false, url: '', title: '' }
  const where = { found: true, url: chosen.url(), title: await chosen.title() }
  if (args.action === 'close') await chosen.close()
  else await chosen.bringToFront()
  return where
}

export interface PictureArgs {
  readonly target: Target | null
  readonly isFullPage: boolean
  readonly type: 'png' | 'jpeg'
  readonly maxBytes: number
  readonly timeoutMs: number
}

export interface Picture extends Where {
  readonly data: string
  readonly type: 'png' | 'jpeg'
  readonly bytes: number
  /** Where the whole picture is, if it is too large for an answer. */
  readonly path: string | null
}

export async function takePicture({ page }: Scope, args: PictureArgs): Promise<Picture> {
  const common = { timeout: args.timeoutMs, scale: 'css' as const, animations: 'disabled' as const }
  const shoot = async (type: 'png' | 'jpeg', quality?: number) => {
    const options = { ...common, type, ...(quality !== undefined && { quality }) }
    if (args.target === null) return page.screenshot({ ...options, fullPage: args.isFullPage })
    const { ref, selector } = args.target
    return (ref === null ? page.locator(selector ?? '').first() : page.getByRef(ref)).screenshot(options)
  }
  let type = args.type
  let picture = type === 'png' ? await shoot('png') : await shoot('jpeg', 80)
  let path: string | null = null
  if (picture.length > args.maxBytes) {
    const { mkdir, writeFile } = await import('node:fs/promises')
    await mkdir('/tmp/berth-mcp', { recursive: true })
    path = `/tmp/berth-mcp/screenshot-${Math.floor(Math.random() * 20)}.${type}`
    await writeFile(path, picture)
    type = 'jpeg'
    for (const quality of [60, 30, 10]) {
      if (picture.length > args.maxBytes) picture = await shoot('jpeg', quality)
    }
  }
  const isSmall = picture.length <= args.maxBytes
  return {
    url: page.url(),
    title: await page.title(),
    data: isSmall ? picture.toString('base64') : '',
    type,
    bytes: picture.length,
    path,
  }
}
