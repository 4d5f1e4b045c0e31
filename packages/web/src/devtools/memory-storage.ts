// localStorage and sessionStorage of a page without an origin, where the browser's own throw. What the front end stores is
// forgotten with its page, so nothing of one session reaches the next.

/** The front end stores some hundred settings. */
const MAX_CHARACTERS = 5_000_000

// The browser's own storage makes text of every key and value, too.
export function memoryStorage(): Storage {
  const items = new Map<string, string>()
  let characters = 0
  const storage: Storage = {
    get length() {
      return items.size
    },
    key: (index) => [...items.keys()][index] ?? null,
    getItem: (key: unknown) => items.get(String(key)) ?? null,
    setItem: (key: unknown, value: unknown) => {
      const [name, text] = [String(key), String(value)]
      const rest = characters - sizeOf(name)
      if (rest + name.length + text.length > MAX_CHARACTERS) {
        throw new DOMException('The storage of this page is full', 'QuotaExceededError')
      }
      items.set(name, text)
      characters = rest + name.length + text.length
    },
    removeItem: (key: unknown) => {
      characters -= sizeOf(String(key))
      items.delete(String(key))
    },
    clear: () => {
      items.clear()
      characters = 0
    },
  }
  const sizeOf = (name: string) => {
    const text = items.get(name)
    return text === undefined ? 0 : name.length + text.length
  }
  // The front end reads and writes settings as properties, too.
  return new Proxy(storage, {
    get: (target, key) =>
      typeof key !== 'string' || key in target ? Reflect.get(target, key) : items.get(key),
    set: (target, key, value) => {
      target.setItem(String(key), String(value))
      return true
    },
    has: (target, key) => key in target || (typeof key === 'string' && items.has(key)),
    deleteProperty: (target, key) => {
      target.removeItem(String(key))
      return true
    },
    ownKeys: () => [...items.keys()],
    getOwnPropertyDescriptor: (_target, key) => {
      const value = typeof key === 'string' ? items.get(key) : undefined
      return value === undefined ? undefined : { value, writable: true, enumerable: true, configurable: true }
    },
  })
}
