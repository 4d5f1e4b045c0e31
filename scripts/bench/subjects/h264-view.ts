// An alternative live view: the screen is grabbed, encoded as H.264 with minimal delay, and decoded by the viewer.
// It shows what the live view would cost if it worked this way.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { findProgram } from '@berth/server/instances/local/programs'
import type { CoreList } from '../measure/cores.ts'
import { cpuMsOf } from '../measure/processes.ts'

const SIZE = '1920x1080'
const PIXEL_BYTES = 3

export interface H264Options {
  readonly display: string
  readonly cores: CoreList
  readonly framesPerSecond: number
  /** The pixel that the viewer looks at. If set, the stream is decoded and the colour of every picture reported. */
  readonly pixel?: { readonly x: number; readonly y: number; readonly onColour: (colour: number) => void }
}

export class H264View {
  readonly #grab: ChildProcess
  readonly #decoder: ChildProcess | undefined
  #bytes = 0
  #frames = 0

  constructor({ display, cores, framesPerSecond, pixel }: H264Options) {
    const ffmpeg = findProgram('ffmpeg')!
    const from = `-v error -f x11grab -framerate ${framesPerSecond} -video_size ${SIZE} -i ${display}`
    const encode = '-c:v libx264 -preset ultrafast -tune zerolatency -pix_fmt yuv420p -g 600'
    // Raw, so that pictures can be counted; a decoder also needs their times.
    const to = `-flush_packets 1 -f ${pixel ? 'nut' : 'h264'} pipe:1`
    this.#grab = spawn('taskset', ['--cpu-list', cores, ffmpeg, ...`${from} ${encode} ${to}`.split(' ')], {
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    this.#grab.stdout!.on('data', (chunk: Buffer) => this.#count(chunk))
    if (pixel) {
      const input = '-v error -threads 1 -flags low_delay -probesize 5000 -analyzeduration 0 -f nut -i pipe:0'
      const look = `-vf crop=2:2:${pixel.x}:${pixel.y},scale=1:1,format=rgb24 -fps_mode passthrough -flush_packets 1 -f rawvideo pipe:1`
      this.#decoder = spawn(ffmpeg, `${input} ${look}`.split(' '), { stdio: ['pipe', 'pipe', 'ignore'] })
      this.#decoder.stdin!.on('error', () => {})
      this.#grab.stdout!.pipe(this.#decoder.stdin!)
      this.#decoder.stdout!.on('data', (chunk: Buffer) => {
        for (let at = 0; at + PIXEL_BYTES <= chunk.length; at += PIXEL_BYTES) {
          pixel.onColour(chunk.readUIntBE(at, PIXEL_BYTES))
        }
      })
    }
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Pictures in a stream that is not decoded. */
  get frames(): number {
    return this.#frames
  }

  /** CPU time for grabbing and encoding, without the viewer's. */
  cpuMs(): number {
    return cpuMsOf([this.#grab.pid!])
  }

  async end(): Promise<void> {
    const ended = [this.#grab, this.#decoder].flatMap((child) => (child ? once(child, 'exit') : []))
    this.#grab.stdin!.end('q')
    await Promise.all(ended)
  }

  /** A picture begins with a slice whose first macroblock has number 0: NAL type 1 or 5, and a set bit. */
  #count(chunk: Buffer): void {
    this.#bytes += chunk.length
    for (let at = chunk.indexOf('\0\0\x01', 0, 'latin1'); at !== -1;) {
      const [head, first] = [chunk[at + 3] ?? 0, chunk[at + 4] ?? 0]
      if ([1, 5].includes(head & 0x1f) && first & 0x80) this.#frames++
      at = chunk.indexOf('\0\0\x01', at + 3, 'latin1')
    }
  }
}
