/** An element of page.html, which is there because we wrote it. */
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

/** What stands in it is text, whoever wrote it. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(tag), properties)
  made.append(...children)
  return made
}
