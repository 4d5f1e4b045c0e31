// Shows the screen of the browser, for pages that the form cannot show. It is loaded on request.
import { element, link, make } from '../shared/elements.ts'

export class Screen {
  readonly #details = element('screen') as HTMLDetailsElement
  readonly #frame = element('frame')
  readonly #link = link('screen-link')
  #url = ''

  constructor() {
    this.#details.addEventListener('toggle', () => this.#load())
  }

  show(url: string | null | undefined): void {
    this.#details.hidden = !url
    // Every state has its own link, and they all work, so the first one is kept.
    if (url && this.#url === '') this.#url = url
    if (!url) {
      this.#details.open = false
      this.#url = ''
    }
    this.#link.href = this.#url
  }

  #load(): void {
    if (!this.#details.open || this.#url === '') return this.#frame.replaceChildren()
    const frame = make('iframe', { src: this.#url, title: 'The browser that signs you in' })
    frame.allow = 'clipboard-read; clipboard-write'
    this.#frame.replaceChildren(frame)
  }
}
