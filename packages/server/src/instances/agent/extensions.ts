import { Readable } from 'node:stream'
import { loadExtensions as operation } from '@berth/contracts/extensions'
import { randomText } from '@berth/kit/ids'
import type { AgentClient } from './client.ts'
import { callOperation } from './operations.ts'

const ALL_TIMEOUT_MS = 60_000

export interface ExtensionContent {
  readonly name: string
  /** A zip archive; opened when it is its turn. */
  readonly open: () => Readable
}

/** Loads them into a Chromium that runs. Throws as callOperation() does, or with what went wrong in reading them. */
export async function loadExtensions(
  agent: AgentClient,
  extensions: readonly ExtensionContent[],
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const boundary = `berth-${randomText(24)}`
  const body = Readable.from(formOf(extensions, boundary), { objectMode: false })
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => {})
  // What cannot be read ends the request, and is the reason that counts.
  body.once('error', (error) => failed.reject(error))
  const timeout = AbortSignal.timeout(ALL_TIMEOUT_MS)
  const answered = callOperation(agent, operation, {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body,
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
  })
  const answer = await Promise.race([answered, failed.promise])
  answer.resume()
}

/** As the agent reads it from anybody. */
async function* formOf(
  extensions: readonly ExtensionContent[],
  boundary: string,
): AsyncGenerator<string | Buffer> {
  for (const [index, { name, open }] of extensions.entries()) {
    const head = (field: string) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="extensions[${index}][${field}]"\r\n\r\n`
    yield `${head('name')}${name}\r\n${head('zip_file')}`
    yield* open() as AsyncIterable<Buffer>
    yield '\r\n'
  }
  yield `--${boundary}--\r\n`
}
