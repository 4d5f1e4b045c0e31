// Makes every field of the document invisible, for the moment of a photo. A style sheet that scripts construct is no
// change of the document, so the page hears of it as little as of us.

const FIELDS = [
  'input:not([type=submit], [type=button], [type=image], [type=reset], [type=checkbox], [type=radio])',
  'textarea',
  'select',
  '[contenteditable]:not([contenteditable=false])',
  '[role=textbox]',
].join()

export class Cover {
  readonly #roots: () => readonly (Document | ShadowRoot)[]
  readonly #covered: (Document | ShadowRoot)[] = []
  #sheet: CSSStyleSheet | undefined

  constructor(roots: () => readonly (Document | ShadowRoot)[]) {
    this.#roots = roots
  }

  /** Throws if a part of the document cannot be covered. */
  put(): void {
    if (!this.#sheet) {
      this.#sheet = new CSSStyleSheet()
      this.#sheet.replaceSync(`${FIELDS} { opacity: 0 !important; transition: none !important }`)
    }
    for (const root of this.#roots()) {
      root.adoptedStyleSheets.push(this.#sheet)
      this.#covered.push(root)
    }
  }

  remove(): void {
    for (const root of this.#covered.splice(0)) {
      const index = root.adoptedStyleSheets.indexOf(this.#sheet!)
      if (index !== -1) root.adoptedStyleSheets.splice(index, 1)
    }
  }
}
