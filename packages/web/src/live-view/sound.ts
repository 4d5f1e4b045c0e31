// What the session plays. Muted until the viewer clicks: browsers allow no sound before, and the session sends none.
import type RFB from '@novnc/novnc'
import { element } from '../shared/elements.ts'

/** The same numbers as in codecs/rfb/sound-messages. */
const ENCODING = 0x62536e64
const REQUEST = 255
const SOUND = 1
const [ON, OFF] = [0, 1]

const RATE = 44_100
const CHANNELS = 2
const FRAME_BYTES = 2 * CHANNELS
const LENGTH_BYTES = 4
/** Sound that arrives a little late is still in time. */
const LEAD_SECONDS = 0.04
/** What would be heard later than this is left out, so that sound stays with the picture. */
const MAX_LEAD_SECONDS = 0.12

export class Sound {
  readonly #button = element('sound')
  #socket: WebSocket | undefined
  #context: AudioContext | undefined
  #endsAt = 0

  constructor() {
    this.#button.addEventListener('click', () => this.#toggle())
    this.#show()
  }

  /** A connection to the session that is open; undefined when it is gone. */
  use(socket: WebSocket | undefined): void {
    this.#socket = socket
    if (this.#context) this.#ask(ON)
  }

  /** To be called before the connection has messages. */
  readFrom(rfb: RFB): void {
    let missing: number | undefined
    const { _decoders: decoders } = rfb
    decoders[ENCODING] = {
      decodeRect: (_x, _y, _width, _height, queue) => {
        if (missing === undefined) {
          if (queue.rQwait('length of sound', LENGTH_BYTES)) return false
          missing = queue.rQshift32()
        }
        if (queue.rQwait('sound', missing)) return false
        const bytes = queue.rQshiftBytes(missing, true)
        missing = undefined
        this.#play(bytes)
        return true
      },
    }
  }

  #toggle(): void {
    if (this.#context) {
      void this.#context.close()
      this.#context = undefined
      this.#ask(OFF)
    } else {
      this.#context = new AudioContext({ latencyHint: 'interactive', sampleRate: RATE })
      void this.#context.resume()
      this.#endsAt = 0
      this.#ask(ON)
    }
    this.#show()
  }

  #show(): void {
    const isOn = this.#context !== undefined
    this.#button.setAttribute('aria-pressed', String(isOn))
    this.#button.title = isOn ? 'Mute' : 'Listen'
  }

  #ask(what: number): void {
    if (this.#socket?.readyState === WebSocket.OPEN) {
      this.#socket.send(new Uint8Array([REQUEST, SOUND, 0, what]))
    }
  }

  #play(bytes: Uint8Array<ArrayBuffer>): void {
    const context = this.#context
    const frames = Math.floor(bytes.length / FRAME_BYTES)
    if (!context || frames === 0) return
    const now = context.currentTime
    if (this.#endsAt < now) this.#endsAt = now + LEAD_SECONDS
    if (this.#endsAt - now > MAX_LEAD_SECONDS) return
    const buffer = context.createBuffer(CHANNELS, frames, RATE)
    const samples = new DataView(bytes.buffer, bytes.byteOffset)
    for (let channel = 0; channel < CHANNELS; channel++) {
      const into = buffer.getChannelData(channel)
      for (let frame = 0; frame < frames; frame++) {
        into[frame] = samples.getInt16(frame * FRAME_BYTES + channel * 2, true) / 32_768
      }
    }
    const source = new AudioBufferSourceNode(context, { buffer })
    source.connect(context.destination)
    source.start(this.#endsAt)
    this.#endsAt += buffer.duration
  }
}
