import { Readable } from 'node:stream'
import { loadExtensions as operation } from '@berth/contracts/extensions'
import { randomText } from '@berth/kit/ids'
import type { AgentClient } from './client.ts'
import { callOperation } from './operations.ts'

const ALL_TIMEOUT_MS = 60_000

export interface ExtensionContent {
  readonly name: string
  /** A zip archive; opened when it is sent. */
  readonly open: () => Readable
}

/** Loads the extensions into a running Chromium. Throws as callOperation() does, or with the error from reading them. */
export async function loadExtensions(
  agent: AgentClient,
  extensions: readonly ExtensionContent[],
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const boundary = `berth-${randomText(24)}`
  const body = Readable.from(formOf(extensions, boundary), { objectMode: false })
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => {})
  // An archive that cannot be read ends the request, and its error is the one to report.
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

/** The multipart form that the agent accepts from any client. */
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
