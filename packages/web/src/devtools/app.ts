// Runs before the front end of DevTools, which the session's browser carries. It gives a page without an origin what the
// front end needs, and tells it where its websocket is.
import { dataWorker } from './data-worker.ts'
import { memoryStorage } from './memory-storage.ts'

for (const name of ['localStorage', 'sessionStorage']) {
  Object.defineProperty(window, name, { value: memoryStorage(), configurable: true })
}
// The front end asks whether there is one, and goes on without it.
Object.defineProperty(window, 'caches', { value: undefined, configurable: true })
window.Worker = dataWorker(window.Worker)

// The page and its websocket have the same path. The front end reads the address from the query.
const { protocol, host, pathname, search } = location
const query = new URLSearchParams(search)
query.delete('ws')
query.delete('wss')
query.set(protocol === 'https:' ? 'wss' : 'ws', `${host}${pathname}`)
history.replaceState(null, '', `?${query}`)
