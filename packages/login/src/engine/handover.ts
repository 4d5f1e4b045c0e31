// What only a person can do, in the browser itself: solve a captcha, or show a login that the rules do not find.
import type { PageSnapshot } from '@berth/contracts/page-snapshot'
import { caption } from '../rules/element-words.ts'
import { readPage } from '../rules/read-page.ts'
import type { ReadChoice, ReadForm, Reading } from '../rules/reading.ts'
import type { Browser } from './browser.ts'
import type { Conversation } from './conversation.ts'
import { isLogin, notFound } from './discovery.ts'

const MAX_PAGES = 50

export class Handover {
  readonly #browser: Browser
  readonly #conversation: Conversation

  constructor(browser: Browser, conversation: Conversation) {
    this.#browser = browser
    this.#conversation = conversation
  }

  /** Returns the next page, or `submit` if the person wants the form to be submitted. */
  async captcha(
    snapshot: PageSnapshot,
    reading: Reading,
    form: ReadForm | undefined,
  ): Promise<PageSnapshot | 'submit'> {
    const name = form?.submit && caption(form.submit)
    const onward = form
      ? `then ${name ? `press "${name}"` : 'submit the form'} there`
      : 'the login then goes on'
    const answer = await this.#conversation.ask(
      {
        externalAction: `The website asks to solve a captcha. Solve it in the browser, ${onward}.`,
        choices: form?.submit ? [toSubmit(form.submit)] : [],
      },
      { snapshot, reading, isLeft: true },
    )
    return 'changed' in answer ? answer.changed : 'submit'
  }

  /** Until the browser shows something that the login can go on with. */
  async login(start: PageSnapshot): Promise<PageSnapshot> {
    let snapshot = start
    for (let pages = 0; pages < MAX_PAGES; pages++) {
      const answer = await this.#conversation.ask(
        {
          externalAction:
            'The login form of the website was not found. Open it in the browser; the login then goes on.',
        },
        { snapshot, reading: readPage(snapshot), isLeft: true },
      )
      snapshot = 'changed' in answer ? answer.changed : await this.#browser.lookNow()
      if (isLogin(snapshot) || readPage(snapshot).signs.isSignedIn) return snapshot
    }
    throw notFound(start)
  }
}

function toSubmit(element: ReadForm['submit'] & object): ReadChoice {
  return {
    kind: 'other',
    label: caption(element) || 'Submit',
    description: undefined,
    mfaType: undefined,
    target: undefined,
    provider: undefined,
    element,
    option: undefined,
  }
}
