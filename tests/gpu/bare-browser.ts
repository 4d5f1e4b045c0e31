// Chromium on this machine without Berth, on an X server of its own: with the flags, the driver and the size of a session.
import { spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { chromium, type Browser } from 'playwright-core'
import { gpuEnvironment } from '@berth/contracts/gpu'
import type { Gpu } from '@berth/server/instances/local/gpu/find-gpus'
import { chromiumFlags } from '../../packages/agent/src/chromium/flags.ts'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'
import { freePort } from '../fixtures/free-port.ts'
import { eventually } from '../fixtures/host.ts'
import { tempDir } from '../fixtures/server.ts'
import { SIZE } from './page.ts'

/** Chromium does not run as root. */
const USER = 65_534
const DISPLAY = 97

export async function startBareBrowser(owner: Owner, gpu: Gpu): Promise<Browser> {
  const home = join(tempDir(owner), 'home')
  mkdirSync(home)
  chmodSync(home, 0o777)
  const size = `${SIZE.width}x${SIZE.height}`
  const screen = [
    '-geometry',
    size,
    '-depth',
    '24',
    '-SecurityTypes',
    'None',
    '-rfbport',
    '-1',
    '-extension',
    'GLX',
  ]
  start(owner, 'Xvnc', [`:${DISPLAY}`, ...screen], { HOME: home })
  const port = await freePort()
  const flags = chromiumFlags({
    browser: { headless: false, ...SIZE, kiosk: true, gpu: true },
    profile: join(home, 'profile'),
    installsExtensions: false,
    devtoolsPort: port,
    proxyPort: undefined,
    restores: false,
    hasTabs: false,
  })
  const child = start(owner, '/usr/lib/chromium/chromium', [...flags, '--kiosk'], {
    HOME: home,
    DISPLAY: `:${DISPLAY}`,
    ...environment(gpu, home),
  })
  let browser: Browser | undefined
  await eventually(
    'the bare browser',
    async () => {
      if (child.exitCode !== null) throw new Error(`Chromium ended with code ${child.exitCode}`)
      browser = await chromium
        .connectOverCDP(`http://127.0.0.1:${port}`, { timeout: 5_000 })
        .catch(() => undefined)
      return browser !== undefined
    },
    30_000,
  )
  cleanUpAfter(owner, () => browser!.close())
  return browser!
}

/** The driver where this machine has it. */
function environment(gpu: Gpu, home: string): Record<string, string> {
  if (gpu.drivers !== 'own') return { VK_DRIVER_FILES: gpu.drivers.join(':') }
  const library = gpu.libraries.find((path) => basename(path).startsWith('libEGL_nvidia.so.'))!
  const file = join(home, 'nvidia_icd.json')
  const ICD = { library_path: library, api_version: '1.3.242' }
  writeFileSync(file, JSON.stringify({ file_format_version: '1.0.0', ICD }))
  return { ...gpuEnvironment([]), VK_DRIVER_FILES: file, LD_LIBRARY_PATH: dirname(library) }
}

function start(
  owner: Owner,
  command: string,
  args: readonly string[],
  env: Record<string, string>,
): ChildProcess {
  const become = process.getuid!() === 0 ? { uid: USER, gid: USER } : {}
  const child = spawn(command, args, {
    ...become,
    detached: true,
    stdio: 'ignore',
    env: { PATH: '/usr/bin:/bin', ...env },
  })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child.once('error', () => {})
  cleanUpAfter(owner, async () => {
    if (child.pid === undefined) return
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch {
      // It has ended.
    }
    await exited
  })
  return child
}
