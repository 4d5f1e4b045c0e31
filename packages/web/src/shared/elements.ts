/** An element of the page's own HTML, so it is always there. */
export function element(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (!found) throw new Error(`The page has no element "${id}"`)
  return found
}

export function form(id: string): HTMLFormElement {
  return element(id) as HTMLFormElement
}

export function button(id: string): HTMLButtonElement {
  return element(id) as HTMLButtonElement
}

export function link(id: string): HTMLAnchorElement {
  return element(id) as HTMLAnchorElement
}

/** Strings become text, never markup. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(tag), properties)
  made.append(...children)
  return made
}

/** Does not set the same text again, because screen readers would read it out again. */
export function setText(id: string, text: string): void {
  const target = element(id)
  if (target.textContent !== text) target.textContent = text
}
