// 1Password's own SDK, in a thread of its own. It has no signals, so a call that takes too long ends with its thread; and
// a token can make its WebAssembly panic, which would end the server.
import { Worker } from 'node:worker_threads'
import type { OnePasswordClient } from './service-account.ts'
import { SourceFailure } from './source.ts'

const SDK = '@1password/sdk'
const MAX_HEAP_MB = 256

/** Plain JavaScript, because a bundle is one file. Its messages: a call in, its value or the text of its error out. */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads')
const opening = import(workerData.sdk).then(({ createClient }) =>
  createClient({ auth: workerData.token, integrationName: 'Berth', integrationVersion: '0.1.0' }))
opening.catch(() => {})
parentPort.on('message', async ({ id, family, method, values }) => {
  try {
    const client = await opening
    // What is sent must be plain: the SDK's objects have methods.
    const value = JSON.parse(JSON.stringify(await client[family][method](...values)))
    parentPort.postMessage({ id, value })
  } catch (error) {
    parentPort.postMessage({ id, error: String(error && error.message || error).slice(0, 2000) })
  }
})
`

interface Reply {
  readonly id: number
  readonly value?: unknown
  readonly error?: string
}

/** Loads nothing yet. Dispose of it to end its thread, whatever it does. */
export function openOnePasswordSdk(token: string): OnePasswordClient & Disposable {
  const worker = new Worker(THREAD, {
    eval: true,
    workerData: { sdk: import.meta.resolve(SDK), token },
    // Nothing of the server's environment is for it.
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  })
  worker.unref()
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let count = 0
  let ended: SourceFailure | undefined
  const end = (failure: SourceFailure) => {
    ended ??= failure
    for (const { reject } of waiting.values()) reject(ended)
    waiting.clear()
  }
  worker.on('message', ({ id, value, error }: Reply) => {
    const call = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) call?.resolve(value)
    else call?.reject(new SourceFailure(reasonOf(error)))
  })
  worker.on('error', () => end(new SourceFailure('its SDK failed; check the token of the service account')))
  worker.on('exit', () => end(new SourceFailure('its SDK ended')))
  const call = <T>(family: string, method: string, ...values: string[]): Promise<T> => {
    if (ended) return Promise.reject(ended)
    const id = ++count
    const reply = Promise.withResolvers<unknown>()
    waiting.set(id, reply)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
    worker.postMessage({ id, family, method, values })
    // SAFETY: the SDK's published interface; who reads it takes only what it needs.
    return reply.promise as Promise<T>
  }
  return {
    vaults: { list: () => call('vaults', 'list') },
    items: {
      list: (vaultId) => call('items', 'list', vaultId),
      get: (vaultId, itemId) => call('items', 'get', vaultId, itemId),
    },
    [Symbol.dispose]: () => void worker.terminate(),
  }
}

/** The SDK's errors are texts that may contain anything, so they are recognised and not repeated. */
const REASONS: readonly [RegExp, string][] = [
  [
    /invalid service account token|deserialization failed|decoding failed/i,
    'the token is cut or malformed; copy it again',
  ],
  [/rate limit/i, '1Password limits how often this service account may ask; try again later'],
  [/request timeout/i, '1Password took too long to answer'],
  [/error sending request|request library/i, "1Password's servers cannot be reached from this server"],
  [/permission/i, 'the service account may not read this'],
  [/not found|couldn't be found/i, '1Password does not have it any more'],
  [/authenticat|rotate it|expired|deleted/i, '1Password refuses the token; create another'],
]

export function reasonOf(message: string): string {
  const known = REASONS.find(([pattern]) => pattern.test(message))
  return known?.[1] ?? '1Password refuses the token of the service account, or cannot be reached'
}
