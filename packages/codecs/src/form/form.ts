// Reads multipart forms (RFC 7578) while they arrive. It holds only the piece of a file that it passes on. Why this is
// not a library: docs/decisions/0038-forms-stay-ours.md.
import { readBounded } from '@berth/kit/read-bounded'
import { BadInput } from '@berth/kit/bad-input'

const MAX_BOUNDARY_LENGTH = 200
const MAX_HEAD_BYTES = 16 * 1024
const MAX_TEXT_BYTES = 16 * 1024
/** Limit for the files and fields of one form. */
const MAX_PARTS = 2_000
const NEWLINE = '\r\n'

export interface Part {
  readonly name: string
  /** Whether it has a file name. */
  readonly isFile: boolean
  /** Must be read to its end before the next part is requested. */
  readonly content: AsyncIterable<Buffer>
}

export async function* partsOf(
  body: AsyncIterable<Buffer>,
  contentType: string | undefined,
): AsyncGenerator<Part> {
  const form = new FormReader(body, boundaryOf(contentType))
  try {
    for (let count = 0; await form.next(); count++) {
      if (count === MAX_PARTS) throw malformed(`it has more than ${MAX_PARTS} parts`)
      yield { ...(await form.readHead()), content: form.content() }
    }
  } finally {
    await form.close()
  }
}

/** Reads a part that contains text. */
export async function readText({ name, content }: Part): Promise<string> {
  const tooLarge = () => malformed(`"${name}" is too long`)
  return (await readBounded(content, { maxBytes: MAX_TEXT_BYTES, tooLarge })).toString()
}

/** A text field that only newer clients know. A file is never ignored, or its upload would seem to have worked. */
export function isUnknownText({ name, isFile }: Part, known: readonly RegExp[]): boolean {
  return !isFile && !known.some((pattern) => pattern.test(name))
}

export function malformed(reason: string): BadInput {
  return new BadInput(`Cannot read the form: ${reason}`)
}

function boundaryOf(contentType = ''): string {
  const [type = ''] = contentType.split(';', 1)
  const match = /;\s*boundary=(?:"([^"]+)"|([^;,\s]+))/i.exec(contentType)
  const boundary = match?.[1] ?? match?.[2] ?? ''
  if (type.trim().toLowerCase() !== 'multipart/form-data' || !boundary) {
    throw malformed('send it as Content-Type "multipart/form-data; boundary=…"')
  }
  if (boundary.length > MAX_BOUNDARY_LENGTH) throw malformed('its boundary is too long')
  return boundary
}

class FormReader {
  readonly #source: AsyncIterator<Buffer>
  #delimiter: Buffer
  #rest: Buffer = Buffer.alloc(0)
  #hasBegun = false
  #isAtBoundary = false

  constructor(body: AsyncIterable<Buffer>, boundary: string) {
    this.#source = body[Symbol.asyncIterator]()
    this.#delimiter = delimiterOf(boundary)
  }

  /** Goes to the next part, and skips the rest of this one. Returns false at the end of the form. */
  async next(): Promise<boolean> {
    if (!this.#hasBegun) await this.#begin()
    if (!this.#isAtBoundary) for await (const _ of this.content());
    this.#isAtBoundary = false
    while (this.#rest.length < 2) await this.#more()
    if (this.#rest.toString('latin1', 0, 2) === '--') return false
    const padding = await this.#line()
    if (padding.trim() !== '') throw malformed('a boundary has something behind it')
    return true
  }

  /**
   * When the published client calls a session directly, it announces a different boundary from the one it uses
   * (0.84.0, lib/browser-routing). So if the form begins with a boundary, that one counts.
   */
  async #begin(): Promise<void> {
    this.#hasBegun = true
    while (this.#rest.indexOf(NEWLINE) === -1 && this.#rest.length <= MAX_BOUNDARY_LENGTH) await this.#more()
    const end = this.#rest.indexOf(NEWLINE)
    const line = this.#rest.toString('latin1', 0, Math.max(0, end)).trimEnd()
    const own = line.startsWith('--') ? line.slice(2) : ''
    if (own !== '' && own.length <= MAX_BOUNDARY_LENGTH) this.#delimiter = delimiterOf(own)
    // The first boundary may have no line break before it.
    this.#rest = Buffer.concat([Buffer.from(NEWLINE), this.#rest])
  }

  /** Stops reading, even if something is left. */
  async close(): Promise<void> {
    await this.#source.return?.()
  }

  async readHead(): Promise<{ name: string; isFile: boolean }> {
    let name: string | undefined
    let isFile = false
    let length = 0
    for (let line = await this.#line(); line !== ''; line = await this.#line()) {
      length += line.length
      if (length > MAX_HEAD_BYTES) throw malformed('the head of a part is too long')
      if (!/^content-disposition:\s*form-data\s*;/i.test(line)) continue
      name = nameIn(line)
      isFile = /;\s*filename\*?=/i.test(line)
    }
    if (name === undefined) throw malformed('a part has no name')
    return { name, isFile }
  }

  async *content(): AsyncGenerator<Buffer> {
    while (!this.#isAtBoundary) {
      const rest = this.#rest
      const end = rest.indexOf(this.#delimiter)
      if (end !== -1) {
        this.#isAtBoundary = true
        this.#rest = rest.subarray(end + this.#delimiter.length)
        if (end > 0) yield rest.subarray(0, end)
        return
      }
      // The last bytes may be the beginning of a boundary.
      const certain = rest.length - this.#delimiter.length + 1
      if (certain > 0) {
        this.#rest = rest.subarray(certain)
        yield rest.subarray(0, certain)
      }
      await this.#more()
    }
  }

  async #line(): Promise<string> {
    let end = this.#rest.indexOf(NEWLINE)
    while (end === -1) {
      if (this.#rest.length > MAX_HEAD_BYTES) throw malformed('the head of a part is too long')
      await this.#more()
      end = this.#rest.indexOf(NEWLINE)
    }
    const line = this.#rest.toString('utf8', 0, end)
    this.#rest = this.#rest.subarray(end + NEWLINE.length)
    return line
  }

  async #more(): Promise<void> {
    const { value, done } = await this.#source.next()
    if (done) throw malformed('it ends before its last boundary')
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value])
  }
}

function delimiterOf(boundary: string): Buffer {
  return Buffer.from(`${NEWLINE}--${boundary}`, 'latin1')
}

function nameIn(line: string): string | undefined {
  const match = /;\s*name=(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))/i.exec(line)
  const quoted = match?.[1]?.replaceAll(/\\(.)/g, '$1')
  // Browsers escape some characters like this.
  return (quoted ?? match?.[2])?.replaceAll(/%(22|0D|0A)/gi, decodeURIComponent)
}
