// One client of Playwright's own protocol. It sees the context that the session began with, and those that it makes.
import { server, type ServedBrowser, type ServedPlaywright } from 'playwright-core/lib/coreBundle'
import type { WebSocket } from 'ws'

/** Of messages that the client has not read yet. One with more is cut off, or a page could fill the memory. */
const MAX_UNREAD_BYTES = 256 * 1024 * 1024

export function serveClient(client: WebSocket, playwright: ServedPlaywright, browser: ServedBrowser): void {
  client.on('error', () => client.terminate())
  browser.on('disconnected', () => client.close(1001, 'Chromium has ended'))
  const connection = new server.DispatcherConnection()
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- not an event target
  connection.onmessage = (message) => {
    if (client.readyState !== client.OPEN) return
    client.send(JSON.stringify(message))
    if (client.bufferedAmount > MAX_UNREAD_BYTES) client.terminate()
  }
  client.on('message', (data: Buffer) => {
    const message = parse(data)
    if (message) void connection.dispatch(message)
    else client.close(1007, 'Malformed message')
  })
  const root = new server.RootDispatcher(connection, async (scope, { sdkLanguage }) => {
    browser.options.sdkLanguage = sdkLanguage
    // Shared: the client sees the context that was there before it.
    const options = { preLaunchedBrowser: browser, sharedBrowser: true, denyLaunch: true }
    return new server.PlaywrightDispatcher(scope, playwright, options)
  })
  client.once('close', () => void root.stopPendingOperations(new Error('Disconnected')).catch(() => {}))
}

function parse(data: Buffer): object | undefined {
  try {
    const value: unknown = JSON.parse(data.toString())
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
