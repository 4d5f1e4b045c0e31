// What code in a REPL shows, in order and up to limits. It comes from the process, so nothing in it is trusted.
import type { Frame } from '@berth/codecs/frames/frames'
import {
  MAX_REPL_IMAGE_BYTES,
  MAX_REPL_IMAGES,
  MAX_REPL_TEXT_BYTES,
  type REPL_CHANNELS,
} from '@berth/contracts/repl'
import { FRAME } from '../playwright/conversation.ts'
import { imageType } from './image-type.ts'

type Channel = (typeof REPL_CHANNELS)[number]

export type Item =
  | { readonly type: 'text'; readonly channel: Channel; readonly text: string }
  | { readonly type: 'image'; readonly mime_type: string; readonly data_b64: string }

interface Text {
  readonly channel: Channel
  readonly pieces: Buffer[]
}

const channels = new Map<number, Channel>([
  [FRAME.stdout, 'stdout'],
  [FRAME.stderr, 'stderr'],
  [FRAME.value, 'result'],
  [FRAME.display, 'display'],
])
/** Texts of different channels in turn; each is an object of the answer. */
const MAX_ITEMS = 10_000

export class Content {
  readonly #items: (Text | Item)[] = []
  #textBytes = 0
  #images = 0
  #imageBytes = 0
  #isTruncated = false

  get isTruncated(): boolean {
    return this.#isTruncated
  }

  take({ kind, payload }: Frame): void {
    const channel = channels.get(kind)
    if (channel) this.#addText(channel, payload)
    else if (kind === FRAME.image) this.#addImage(payload)
  }

  say(channel: Channel, text: string): void {
    this.#addText(channel, Buffer.from(text))
  }

  get items(): Item[] {
    return this.#items.map((item) => {
      if (!('pieces' in item)) return item
      return { type: 'text', channel: item.channel, text: wholeText(Buffer.concat(item.pieces)) }
    })
  }

  #addText(channel: Channel, payload: Buffer): void {
    const room = MAX_REPL_TEXT_BYTES - this.#textBytes
    if (payload.length > room) this.#isTruncated = true
    if (payload.length === 0 || room === 0) return
    const last = this.#items.at(-1)
    // Copied, because it would keep the larger buffer that it is part of.
    const piece = Buffer.from(payload.subarray(0, room))
    if (last && 'pieces' in last && last.channel === channel) last.pieces.push(piece)
    else if (!this.#push({ channel, pieces: [piece] })) return
    this.#textBytes += piece.length
  }

  #addImage(bytes: Buffer): void {
    const type = imageType(bytes)
    const fits =
      this.#images < MAX_REPL_IMAGES && this.#imageBytes + bytes.length <= MAX_REPL_IMAGE_BYTES && type
    if (!fits) {
      this.#isTruncated = true
      return
    }
    const data = bytes.toString('base64')
    if (!this.#push({ type: 'image', mime_type: type, data_b64: data })) return
    this.#images++
    this.#imageBytes += bytes.length
  }

  #push(item: Text | Item): boolean {
    if (this.#items.length >= MAX_ITEMS) this.#isTruncated = true
    else this.#items.push(item)
    return this.#items.at(-1) === item
  }
}

/** Without a last character of which the end was cut off. */
function wholeText(bytes: Buffer): string {
  const text = bytes.toString()
  return bytes.length >= MAX_REPL_TEXT_BYTES - 4 && text.endsWith('\ufffd') ? text.slice(0, -1) : text
}
