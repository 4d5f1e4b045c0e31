// The picture of a headful session's screen, shared by all users. Only changed parts are fetched and converted, and only
// when somebody needs a picture.
import { SerialQueue } from '@berth/kit/serial-queue'
import { XConnection } from '../../display/x-connection.ts'
import { halves, xRequest } from '@berth/codecs/x11/request'
import type { Size } from '../../cdp/headless-size.ts'
import { Converter, type Part } from '@berth/codecs/yuv/converter'
import { evenSize } from '../pictures/picture-source.ts'
import { Damage } from './damage.ts'
import { bands, toFetch } from './parts.ts'
import { paintPointer } from './paint-pointer.ts'
import { Pointer, type PointerPicture } from './pointer.ts'

const GET_IMAGE = 73
const Z_PIXMAP = 2
const ALL_PLANES = 0xffffffff
const REPLY_HEAD_BYTES = 32
/** Bytes per request. Each request wakes the display and the agent, but a large one fills the display's buffers. */
const BAND_BYTES = 1024 * 1024

export interface Use {
  /** Number of the picture that the caller used last. */
  readonly known: number
  /** Whether to paint the pointer. */
  readonly hasPointer: boolean
  readonly work: (picture: Buffer) => Promise<void>
}

export class Screen {
  readonly size: Size
  readonly #x: XConnection
  readonly #converter: Converter
  readonly #listeners = new Set<() => void>()
  #damage: Damage | undefined
  #pointer: Pointer | undefined
  #pointed: PointerPicture | undefined
  #hasChanged = true
  #hasMoved = true
  /** Parts that changed and were not fetched yet. */
  #stale: Part[] = []
  #version = 0
  #pointerVersion = 0
  /** The share of the screen that is new in this version; 1 is all of it. */
  #share = 0
  /** Updates and uses of the picture take turns. */
  readonly #turns = new SerialQueue()

  private constructor(x: XConnection) {
    this.#x = x
    this.size = evenSize(x.size)
    const widest = this.size.width * 4 * 2
    this.#converter = new Converter(this.size, {
      roomBytes: Math.max(BAND_BYTES, widest) + REPLY_HEAD_BYTES,
    })
  }

  static async open(x: XConnection): Promise<Screen> {
    const screen = new Screen(x)
    const tell = () => {
      for (const listener of screen.#listeners) listener()
    }
    screen.#damage = await Damage.open(x, () => {
      screen.#hasChanged = true
      tell()
    })
    screen.#pointer = await Pointer.open(x, () => {
      screen.#hasMoved = true
      tell()
    })
    return screen
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) }
  }

  /** The current version, and how much of it is new. Fetches nothing. */
  async look(): Promise<{ version: number; share: number }> {
    return this.#inTurn(async () => {
      await this.#see()
      return { version: this.#version, share: this.#share }
    })
  }

  /** Calls `work` with the current picture if it is newer. Resolves with its version, and how much of it is new. */
  async use({ known, hasPointer, work }: Use): Promise<{ version: number; share: number }> {
    return this.#inTurn(async () => {
      await this.#see()
      await this.#fetchStale()
      if (hasPointer) await this.#point()
      const version = this.#version + (hasPointer ? this.#pointerVersion : 0)
      if (version !== known) {
        const { planes } = this.#converter
        const undo = hasPointer ? paintPointer(planes, this.size, this.#pointed!) : () => {}
        await work(planes).finally(undo)
      }
      return { version, share: this.#share }
    })
  }

  close(): void {
    this.#x.destroy()
  }

  async #see(): Promise<void> {
    // The first time, all of it.
    const changed: Part[] = this.#version === 0 ? [{ x: 0, y: 0, ...this.size }] : []
    if (this.#hasChanged) {
      this.#hasChanged = false
      changed.push(...(await this.#damage!.take()))
    }
    const parts = toFetch(changed, this.#visible())
    if (parts.length === 0) return
    this.#stale = toFetch([...this.#stale, ...parts], this.#visible())
    this.#version++
    this.#share = areaOf(parts) / (this.size.width * this.size.height)
  }

  async #fetchStale(): Promise<void> {
    const parts = toFetch(this.#stale, this.#visible())
    for (const band of parts.flatMap((part) => bands(part, BAND_BYTES))) await this.#fetch(band)
    this.#stale = []
  }

  async #point(): Promise<void> {
    if (!this.#hasMoved) return
    this.#hasMoved = false
    const before = this.#pointed
    this.#pointed = await this.#pointer!.look()
    if (!before || !isSame(before, this.#pointed)) this.#pointerVersion++
  }

  /** A program in the instance may have made the screen smaller. */
  #visible(): Size {
    const now = evenSize(this.#x.size)
    return { width: Math.min(now.width, this.size.width), height: Math.min(now.height, this.size.height) }
  }

  async #fetch({ x, y, width, height }: Part): Promise<void> {
    const { room } = this.#converter
    const request = xRequest(
      GET_IMAGE,
      Z_PIXMAP,
      this.#x.root,
      halves(x, y),
      halves(width, height),
      ALL_PLANES,
    )
    const image = await this.#x.ask(request, room)
    // A short reply has its own buffer.
    if (image.buffer !== room.buffer) image.copy(room)
    this.#converter.convert(REPLY_HEAD_BYTES, { x, y, width, height })
  }

  async #inTurn<T>(act: () => Promise<T>): Promise<T> {
    return this.#turns.run(act)
  }
}

const areaOf = (parts: readonly Part[]) => parts.reduce((sum, { width, height }) => sum + width * height, 0)

const isSame = (one: PointerPicture, other: PointerPicture) =>
  one.x === other.x && one.y === other.y && one.pixels.equals(other.pixels)
