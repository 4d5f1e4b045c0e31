// The screen of a bare headful Chromium: the same X server that setup installs, without a TCP port.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Cleanup } from '../cleanup.ts'
import type { CoreList } from '../measure/cores.ts'

export const xServerProgram = '/usr/bin/Xvnc'

export class XServer {
  /** In the format of DISPLAY. */
  readonly display: string
  readonly pid: number
  /** Where it accepts viewers. */
  readonly rfbSocket: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, { display, rfbSocket }: { display: string; rfbSocket: string }) {
    this.#child = child
    this.pid = child.pid!
    this.display = display
    this.rfbSocket = rfbSocket
  }

  static async start(cleanup: Cleanup, { cores }: { cores: CoreList }): Promise<XServer> {
    const directory = mkdtempSync(join(tmpdir(), 'berth-bare-x-'))
    const rfbSocket = join(directory, 'rfb.sock')
    const child = spawn('taskset', ['--cpu-list', cores, xServerProgram, ...argumentsOf(rfbSocket)], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
      env: { PATH: '/usr/bin:/bin', HOME: directory },
    })
    const exited = once(child, 'exit')
    cleanup.after(async () => {
      // At SIGTERM it removes its lock and its socket.
      child.kill('SIGTERM')
      await exited
      rmSync(directory, { recursive: true, force: true })
    })
    const number = await Promise.race([
      once(child.stdio[3]!, 'data').then(([chunk]) => String(chunk).trim()),
      exited.then(([code]) => {
        throw new Error(`Cannot start the X server: it ended with code ${String(code)}`)
      }),
    ])
    return new XServer(child, { display: `:${number}`, rfbSocket })
  }

  kill(): void {
    this.#child.kill('SIGTERM')
  }
}

function argumentsOf(rfbSocket: string): string[] {
  const screen = '-displayfd 3 -geometry 1920x1080 -depth 24 -ac -nolisten tcp'
  const rfb = '-SecurityTypes None -rfbport -1 -rfbunixpath'
  return [...screen.split(' '), ...rfb.split(' '), rfbSocket]
}
