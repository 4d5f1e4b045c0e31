/** `1 proxy`, `12 API keys`, `100+ profiles`. */
export function counted(count: number, plural: string, { hasMore = false } = {}): string {
  // API keys stay as they are.
  const isName = /^[A-Z]{2}/.test(plural)
  const words = isName ? plural : plural.charAt(0).toLowerCase() + plural.slice(1)
  const shown = count === 1 && !hasMore ? words.replace(/ies$/, 'y').replace(/s$/, '') : words
  return `${count.toLocaleString('en')}${hasMore ? '+' : ''} ${shown}`
}
