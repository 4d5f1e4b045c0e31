// Checks the records from the agent, see contracts/recording.ts. They come from inside an instance and are untrusted.
// Accepted records always form a valid video, whatever it shows.
import {
  markerKinds,
  MAX_MARKER_CHARACTERS,
  MAX_RECORD_BYTES,
  MAX_SOUND_FRAME_BYTES,
  RECORD_HEAD_BYTES,
  recordingEnds,
  recordKinds,
  type RecordingEnd,
  type RecordingMarker,
} from '@berth/contracts/recording'
import { FrameSplitter, type Frame } from '@berth/codecs/frames/frames'

const MAX_SETUP_BYTES = 1024
/** ISO 14496-15: version 1, with four-byte lengths of NAL units. */
const SETUP_VERSION = 1
const MIN_SETUP_BYTES = 7
const LENGTH_BYTES = 4
const NAL_TYPE = 0x1f
const IDR = 5
const MAX_DIMENSION = 8192
const MAX_SAMPLES = 4_000_000
/** Of a day. What is played later is left out. */
export const MAX_SOUND_FRAMES = 4_000_000
const MAX_MARKERS = 1_000
/** Allows for different clocks and for transmission. */
const TIME_SLACK_MS = 5_000

export interface Setup {
  readonly width: number
  readonly height: number
  /** An AVCDecoderConfigurationRecord. */
  readonly decoder: Buffer
}

export type RecordIn =
  | { readonly kind: 'config'; readonly setup: Setup }
  | { readonly kind: 'sample'; readonly isKey: boolean; readonly unit: Buffer }
  | { readonly kind: 'sound'; readonly frame: Buffer }
  | { readonly kind: 'marker'; readonly marker: RecordingMarker }
  | { readonly kind: 'time' }
  | { readonly kind: 'gap'; readonly lostMs: number }
  | { readonly kind: 'end'; readonly reason: RecordingEnd }

export type Numbered = RecordIn & { readonly number: number; readonly timeMs: number }

/** The agent sent a malformed record. */
export class WrongRecord extends Error {}

export const newSplitter = () => new FrameSplitter({ maxBytes: MAX_RECORD_BYTES })

/** Checks records in order, each against those before it. */
export class RecordReader {
  #lastNumber = 0
  #setup: Setup | undefined
  #samples = 0
  #sounds = 0
  #markers = 0
  #lastSampleMs = 0
  #lastMs = 0
  #isOver = false

  get lastNumber(): number {
    return this.#lastNumber
  }

  /** The latest time of any record. */
  get lastMs(): number {
    return this.#lastMs
  }

  get setup(): Setup | undefined {
    return this.#setup
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Undefined for a record that was read before. `elapsedMs` is the longest possible duration so far. */
  take({ kind, payload }: Frame, elapsedMs = Infinity): Numbered | undefined {
    if (payload.length < RECORD_HEAD_BYTES) throw new WrongRecord('it is too short')
    const number = payload.readUInt32BE(0)
    const timeMs = payload.readUInt32BE(4)
    if (number <= this.#lastNumber) return undefined
    if (number !== this.#lastNumber + 1) throw new WrongRecord(`number ${number} follows ${this.#lastNumber}`)
    if (this.#isOver) throw new WrongRecord('it comes after the end')
    if (timeMs > elapsedMs + TIME_SLACK_MS) throw new WrongRecord('it is from the future')
    const record = this.#read(kind, payload.subarray(RECORD_HEAD_BYTES), timeMs)
    this.#lastNumber = number
    this.#lastMs = Math.max(this.#lastMs, timeMs)
    return { ...record, number, timeMs }
  }

  #read(kind: number, content: Buffer, timeMs: number): RecordIn {
    switch (kind) {
      case recordKinds.config:
        return { kind: 'config', setup: this.#takeSetup(content) }
      case recordKinds.sample:
        return this.#takeSample(content, timeMs)
      case recordKinds.marker:
        if (++this.#markers > MAX_MARKERS) return { kind: 'time' }
        return { kind: 'marker', marker: readMarker(content) }
      case recordKinds.sound:
        if (content.length === 0 || content.length > MAX_SOUND_FRAME_BYTES)
          throw new WrongRecord('a frame of sound is empty or too long')
        if (++this.#sounds > MAX_SOUND_FRAMES) return { kind: 'time' }
        return { kind: 'sound', frame: content }
      case recordKinds.time:
        return { kind: 'time' }
      case recordKinds.gap:
        if (content.length !== 4) throw new WrongRecord('a gap has four bytes')
        return { kind: 'gap', lostMs: Math.min(content.readUInt32BE(0), timeMs) }
      case recordKinds.end:
        this.#isOver = true
        return { kind: 'end', reason: readEnd(content) }
      default:
        throw new WrongRecord(`there is no kind ${kind}`)
    }
  }

  #takeSetup(content: Buffer): Setup {
    const decoder = content.subarray(4)
    if (decoder.length < MIN_SETUP_BYTES || decoder.length > MAX_SETUP_BYTES) {
      throw new WrongRecord('its decoder record is too short or too long')
    }
    const lengthBytes = (decoder[4]! & 3) + 1
    if (decoder[0] !== SETUP_VERSION || lengthBytes !== LENGTH_BYTES) {
      throw new WrongRecord('its decoder record is none')
    }
    const setup = {
      width: content.readUInt16BE(0),
      height: content.readUInt16BE(2),
      decoder: Buffer.from(decoder),
    }
    const isSized = [setup.width, setup.height].every(
      (side) => side >= 2 && side <= MAX_DIMENSION && side % 2 === 0,
    )
    if (!isSized) throw new WrongRecord('its size is none')
    // A new encoder after a crash may repeat the setup, but not change it.
    const known = this.#setup
    const isSame =
      known?.width === setup.width && known.height === setup.height && known.decoder.equals(decoder)
    if (known && !isSame) throw new WrongRecord('its decoder record changes')
    return (this.#setup = setup)
  }

  #takeSample(content: Buffer, timeMs: number): RecordIn {
    if (!this.#setup) throw new WrongRecord('there is no decoder record before it')
    if (++this.#samples > MAX_SAMPLES) throw new WrongRecord('there are too many pictures')
    if (timeMs < this.#lastSampleMs) throw new WrongRecord('it goes back in time')
    const isKey = content[0] === 1
    const unit = content.subarray(1)
    const hasKey = checkUnit(unit)
    if (isKey !== hasKey) throw new WrongRecord('it is not the kind of picture it says')
    if (this.#samples === 1 && !isKey) throw new WrongRecord('the first picture is no key frame')
    this.#lastSampleMs = timeMs
    return { kind: 'sample', isKey, unit }
  }
}

/** Checks that the unit consists of complete NAL units; returns whether one belongs to a key frame. */
function checkUnit(unit: Buffer): boolean {
  let at = 0
  let hasKey = false
  while (at < unit.length) {
    if (unit.length - at <= LENGTH_BYTES) throw new WrongRecord('a NAL unit is cut')
    const length = unit.readUInt32BE(at)
    at += LENGTH_BYTES
    if (length === 0 || length > unit.length - at)
      throw new WrongRecord('a NAL unit is longer than its picture')
    if ((unit[at]! & NAL_TYPE) === IDR) hasKey = true
    at += length
  }
  if (unit.length === 0) throw new WrongRecord('a picture is empty')
  return hasKey
}

function readMarker(content: Buffer): RecordingMarker {
  if (content.length > 4 * MAX_MARKER_CHARACTERS + 200) throw new WrongRecord('a marker is too long')
  let value: unknown
  try {
    value = JSON.parse(content.toString())
  } catch {
    throw new WrongRecord('a marker is not JSON')
  }
  const { kind, text } = (value ?? {}) as { kind?: unknown; text?: unknown }
  const known = markerKinds.find((each) => each === kind)
  if (!known || typeof text !== 'string') throw new WrongRecord('a marker is none')
  // Remove control characters and lone surrogates from the title.
  return { kind: known, text: text.replaceAll(/[\p{Cc}\p{Cs}]/gu, ' ').slice(0, MAX_MARKER_CHARACTERS) }
}

function readEnd(content: Buffer): RecordingEnd {
  const reason = recordingEnds.find((each) => each === content.toString('latin1', 0, 20))
  if (!reason) throw new WrongRecord('its end has no reason')
  return reason
}
