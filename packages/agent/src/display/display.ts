// The screen of a headful Chromium: an Xvnc that only the instance can reach. Chromium's window has exactly its size.
import type { ChildProcess } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pause } from '@berth/kit/pause'
import type { CdpConnection } from '../cdp/cdp-connection.ts'
import type { ServiceLog } from '../log/service-log.ts'
import type { Size } from '../cdp/headless-size.ts'
import type { FirstPage } from '../cdp/settle.ts'
import type { Settings } from '../instance/settings.ts'
import { keepOnScreen } from './keep-on-screen.ts'
import { setScreenSize } from './screen-size.ts'
import { XConnection, type Bounds } from './x-connection.ts'
import { spawnAsUser } from '../user/user.ts'
import { pathExists } from '../user/path-exists.ts'

const SOCKET_DIRECTORY = '/tmp/.X11-unix'
const START_MS = 10_000
const FOLLOW_MS = 2_000
/**
 * Runs a program that does not preempt others when it wakes. Otherwise, on a shared core, the answer to a click
 * would wait until the display and Chromium had handled the click.
 */
const UNOBTRUSIVELY = ['chrt', '--batch', '0'] as const

interface Window {
  readonly windowId: number
  readonly bounds: Bounds & { readonly windowState: string }
}

export class Display {
  readonly #number: number
  readonly #settings: Settings
  readonly #log: ServiceLog
  readonly #rfbSocket: string
  #server: ChildProcess | undefined
  #size: Size | undefined
  #connection: Promise<XConnection> | undefined

  constructor(settings: Settings, log: ServiceLog) {
    this.#log = log
    this.#settings = settings
    this.#number = settings.display
    this.#rfbSocket = join(settings.temporary, 'rfb.sock')
  }

  /** The value for DISPLAY. */
  get name(): string {
    return `:${this.#number}`
  }

  /** The socket for viewers. */
  get rfbSocket(): string {
    return this.#rfbSocket
  }

  /** Resolves when programs can use it. */
  async open({ width, height }: Size): Promise<void> {
    if (this.#server) {
      await this.#resize({ width, height })
      return
    }
    rmSync(this.#rfbSocket, { force: true })
    makeSocketDirectory()
    const [command, ...words] = [...UNOBTRUSIVELY, 'Xvnc', ...this.#arguments({ width, height })]
    const server = spawnAsUser(command, words, {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      env: { HOME: this.#settings.home, PATH: '/usr/bin:/bin' },
    })
    let output = ''
    server.stderr!.on('data', (chunk: Buffer) => {
      this.#log.append(chunk)
      output = (output + chunk.toString()).slice(-2_000)
    })
    this.#server = server
    this.#size = { width, height }
    await new Promise<void>((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`Cannot start the display: ${why}\n${output.trim()}`))
      const timer = setTimeout(() => {
        fail('it takes too long')
        server.kill('SIGKILL')
      }, START_MS)
      // Xvnc writes its number here as soon as it accepts connections.
      server.stdio[3]!.once('data', () => {
        clearTimeout(timer)
        resolve()
      })
      server.once('error', (error) => fail(error.message))
      server.once('exit', (code, signal) => {
        clearTimeout(timer)
        fail(`it ended with ${signal ?? `code ${code}`}`)
        if (this.#server === server) this.#server = undefined
      })
    }).catch((error: unknown) => {
      this.#server = undefined
      throw error
    })
  }

  /** The shared connection, opened on first use. */
  async connection(): Promise<XConnection> {
    const known = await this.#connection?.catch(() => undefined)
    if (known?.isOpen) return known
    this.#connection = XConnection.open(this.#number).then((x) => {
      keepOnScreen(x)
      return x
    })
    return this.#connection
  }

  /** A separate connection, for users that would delay the others. */
  openConnection(onClose: () => void): Promise<XConnection> {
    return XConnection.open(this.#number, onClose)
  }

  /** Resizes screen and window. */
  async fit(cdp: CdpConnection, { targetId }: FirstPage, wanted: Size & { kiosk: boolean }): Promise<void> {
    await this.#resize(wanted)
    await this.connection()
    const { windowId, bounds } = await cdp.call<Window>('Browser.getWindowForTarget', { targetId })
    const isKiosk = bounds.windowState === 'fullscreen'
    if (wanted.kiosk !== isKiosk) {
      const windowState = wanted.kiosk ? 'fullscreen' : 'normal'
      await cdp.call('Browser.setWindowBounds', { windowId, bounds: { windowState } })
    }
    const whole = { left: 0, top: 0, width: wanted.width, height: wanted.height }
    const deadline = performance.now() + FOLLOW_MS
    for (;;) {
      const { bounds: now } = await cdp.call<Window>('Browser.getWindowForTarget', { targetId })
      if (isAt(now, whole, 0)) return
      if (performance.now() > deadline) {
        throw new Error(`Cannot make the window ${wanted.width}x${wanted.height}: it stays as it is`)
      }
      await this.#fill(now, whole)
      await pause(5)
    }
  }

  kill(): void {
    this.#server?.kill('SIGKILL')
    this.#server = undefined
  }

  async #resize({ width, height }: Size): Promise<void> {
    if (this.#size?.width === width && this.#size.height === height) return
    await setScreenSize(this.#rfbSocket, { width, height })
    this.#size = { width, height }
  }

  // Uses X, not CDP, which would end kiosk mode and never makes the window quite as large as the screen.
  async #fill(now: Bounds, whole: Bounds): Promise<void> {
    const x = await this.connection()
    const windows = await x.visibleWindows()
    const window = windows.find((candidate) => isAt(candidate, now, 1))
    if (window) await x.configure(window.id, whole)
  }

  #arguments({ width, height }: Size): string[] {
    const screen = `-displayfd 3 -geometry ${width}x${height} -depth 24 -dpi 96 -noreset -extension GLX`
    // No port: viewers come through the agent.
    const rfb = '-rfbport -1 -rfbunixmode 0600 -SecurityTypes None -AlwaysShared -desktop Berth -nolisten tcp'
    // All viewers share one address, so a viewer must not be blocked for another's failures. Selecting text does
    // not copy it.
    const viewers = '-UseBlacklist=0 -SendPrimary=0 -SetPrimary=0'
    // Chromium reports exactly what it has drawn. Comparing again would cut a frame into hundreds of pieces, sent in
    // two or three updates.
    const updates = '-CompareFB=0'
    const all = `${screen} ${rfb} ${viewers} ${updates}`
    return [this.name, ...all.split(' '), '-rfbunixpath', this.#rfbSocket]
  }
}

const isAt = (one: Bounds, other: Bounds, tolerance: number) =>
  (['left', 'top', 'width', 'height'] as const).every(
    (side) => Math.abs(one[side] - other[side]) <= tolerance,
  )

/** An X server creates it only as root. */
function makeSocketDirectory(): void {
  if (pathExists(SOCKET_DIRECTORY)) return
  mkdirSync(SOCKET_DIRECTORY)
  chmodSync(SOCKET_DIRECTORY, 0o1777)
}
