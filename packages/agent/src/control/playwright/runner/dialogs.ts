// Which dialogs Playwright may close. It closes those that have no listener, in every tab.
import type { EventEmitter } from 'node:events'
import type { BrowserContext, Dialog, Page } from 'playwright-core'

export class Dialogs {
  readonly #isOthers: (page: Page) => Promise<boolean>

  /** `isOthers`: whether the tab is another executor's. */
  constructor(isOthers: (page: Page) => Promise<boolean>) {
    this.#isOthers = isOthers
  }

  /** While no code runs, a dialog belongs to a person or to another client, so it must stay open. */
  leave(context: BrowserContext): void {
    this.#listenOnly(context, this.#leaveOpen)
  }

  /** While code runs, they are its own, but for those in tabs of other executors. */
  answer(context: BrowserContext, { hasOthers }: { hasOthers: boolean }): void {
    this.#listenOnly(context, hasOthers ? this.#answerOwn : undefined)
  }

  #listenOnly(context: BrowserContext, listener: ((dialog: Dialog) => void) | undefined): void {
    context.off('dialog', this.#leaveOpen)
    context.off('dialog', this.#answerOwn)
    if (listener) context.on('dialog', listener)
  }

  readonly #leaveOpen = () => {}

  /** As Playwright does when nobody listens. */
  readonly #answerOwn = (dialog: Dialog) => {
    const page = dialog.page()
    if (page && listenersOf(page) + listenersOf(page.context()) === 1)
      void this.#answerUnlessOthers(page, dialog).catch(() => {})
  }

  async #answerUnlessOthers(page: Page, dialog: Dialog): Promise<void> {
    if (await this.#isOthers(page)) return
    await (dialog.type() === 'beforeunload' ? dialog.accept() : dialog.dismiss())
  }
}

/** They are event emitters of Node, but Playwright's types do not say so. */
function listenersOf(emitter: Page | BrowserContext): number {
  return (emitter as unknown as EventEmitter).listenerCount('dialog')
}
