// Reads the upload form of an extension: a file and an optional name.
import { EXTENSION_NAME, MAX_EXTENSION_BYTES } from '@berth/contracts/extension-limits'
import { RESERVED_NAME } from '@berth/contracts/extensions'
import { isUnknownText, malformed, partsOf, readText } from '@berth/codecs/form/form'
import type { Readable } from 'node:stream'
import { AppError, invalidInput } from '../../platform/errors/app-error.ts'
import type { BodyStream } from '../../http/call.ts'
import { rememberIgnored } from '../../http/ignored-fields.ts'
import { SpoolTooLarge, type Spool, type SpooledFile } from './spool.ts'

const FIELDS = [/^file$/, /^name$/]
const NAME = new RegExp(EXTENSION_NAME, 'u')

export interface UploadForm extends AsyncDisposable {
  readonly name: string | null
  readonly file: SpooledFile
}

export async function readUploadForm(stream: BodyStream | undefined, spool: Spool): Promise<UploadForm> {
  if (!stream) throw malformed('send it as Content-Type "multipart/form-data; boundary=…"')
  await using acquired = new AsyncDisposableStack()
  let file: SpooledFile | undefined
  let name: string | undefined
  for await (const part of partsOf(bytesOf(stream.body), stream.headers['content-type'])) {
    if (part.name === 'file' && !file) file = acquired.use(await spooled(spool, part.content))
    else if (part.name === 'name' && name === undefined) name = checkedName(await readText(part))
    else if (isUnknownText(part, FIELDS)) rememberIgnored(stream.body, [[part.name]])
    else throw malformed(`"${part.name.slice(0, 200)}" is not a field of it, or in it twice`)
  }
  if (!file) throw invalidInput('file', 'is required')
  const owned = acquired.move()
  return { file, name: name || null, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** An empty name counts as missing, as usual in forms. */
function checkedName(name: string): string {
  if (name === '') return name
  if (!NAME.test(name)) throw invalidInput('name', `must match ${EXTENSION_NAME}`)
  if (name === RESERVED_NAME) throw invalidInput('name', `must not be "${name}", which is a path of its own`)
  return name
}

async function spooled(spool: Spool, content: AsyncIterable<Buffer>): Promise<SpooledFile> {
  try {
    return await spool.fill(content, { maxBytes: MAX_EXTENSION_BYTES })
  } catch (error) {
    if (!(error instanceof SpoolTooLarge)) throw error
    const most = `${MAX_EXTENSION_BYTES / 1024 / 1024} MiB`
    throw new AppError('payload_too_large', `Cannot take an extension of more than ${most}`)
  }
}

/** Does not destroy the body when the reader stops, or the connection would end before the error is sent. */
function bytesOf(body: Readable): AsyncIterable<Buffer> {
  return body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
}
