/** An element of page.html, which is there because we wrote it. */
export function element(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (!found) throw new Error(`The page has no element "${id}"`)
  return found
}
