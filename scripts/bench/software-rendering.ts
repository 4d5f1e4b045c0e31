// Compares the programs that can render WebGL without a GPU, each in Chromium with a session's other flags on an X server
// of its own: node scripts/bench/software-rendering.ts [rounds]. It needs Xvnc and, for Mesa, the package libegl-mesa0.
import { spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { chromium, type Browser, type Page } from 'playwright-core'
import { chromiumFlags } from '../../packages/agent/src/chromium/flags.ts'

const SIZE = { width: 1280, height: 720 }
const DISPLAY = 96
/** Chromium does not run as root. */
const USER = 65_534
const START_MS = 60_000
const SWIFTSHADER = '--enable-unsafe-swiftshader'
const MESA = ['--use-gl=angle', '--use-angle=gl-egl', '--ignore-gpu-blocklist']

/** What is said instead of SWIFTSHADER. */
const arms: Readonly<Record<string, readonly string[]>> = {
  'SwiftShader, only for WebGL': [SWIFTSHADER],
  'llvmpipe for everything': MESA,
  'llvmpipe, only for WebGL': [...MESA, '--disable-gpu-compositing'],
}

const SHADER = `<!doctype html><title>WebGL</title><style>body{margin:0}canvas{width:100vw;height:100vh}</style>
<canvas width=960 height=540></canvas><script>
const gl = document.querySelector('canvas').getContext('webgl2')
window.renderer = () => {
  const info = gl?.getExtension('WEBGL_debug_renderer_info')
  return gl ? gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER) : 'no WebGL'
}
const program = gl && gl.createProgram()
if (gl) {
  const add = (kind, text) => {
    const shader = gl.createShader(kind)
    gl.shaderSource(shader, '#version 300 es\\nprecision highp float;' + text)
    gl.compileShader(shader)
    gl.attachShader(program, shader)
  }
  add(gl.VERTEX_SHADER, 'void main(){gl_Position=vec4(gl_VertexID==1?3.:-1.,gl_VertexID==2?3.:-1.,0,1);}')
  add(gl.FRAGMENT_SHADER, 'uniform float t;out vec4 c;void main(){vec2 p=gl_FragCoord.xy/500.;float s=0.;' +
    'for(int i=0;i<60;i++)s+=sin(p.x*float(i)+t)*cos(p.y*float(i)-t);c=vec4(.5+.5*sin(s),.5+.5*cos(s),.5,1);}')
  gl.linkProgram(program)
  gl.useProgram(program)
}
window.frames = (count) => {
  const at = gl.getUniformLocation(program, 't'), times = [], pixel = new Uint8Array(4)
  for (let n = -2; n < count; n++) {
    const startedAt = performance.now()
    gl.uniform1f(at, n / 10)
    gl.drawArrays(gl.TRIANGLES, 0, 3)
    gl.readPixels(5, 5, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel)
    if (n >= 0) times.push(performance.now() - startedAt)
  }
  return times
}
window.wireframe = (count) => {
  // Many small triangles instead of many instructions for each pixel.
  const startedAt = performance.now(), pixel = new Uint8Array(4)
  gl.viewport(0, 0, 64, 64)
  for (let n = 0; n < count; n++) gl.drawArraysInstanced(gl.TRIANGLES, 0, 3, 500)
  gl.readPixels(5, 5, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel)
  gl.viewport(0, 0, 960, 540)
  return (performance.now() - startedAt) / count
}
</script>`

/** Text, shadows, gradients and round corners: what costs an ordinary page its drawing. */
const ORDINARY = `<!doctype html><title>Ordinary</title><style>
body{font:14px sans-serif;background:linear-gradient(#fff,#def)} div{display:inline-block;width:240px;margin:6px;
padding:8px;border-radius:9px;box-shadow:0 2px 8px #0006;background:linear-gradient(90deg,#fed,#fff)}</style>
<script>for (let n = 0; n < 400; n++) document.write('<div><b>Item ' + n + '</b><p>' + 'Some words of text. '.repeat(12) +
'<svg width=60 height=30><circle cx=15 cy=15 r=12 fill=tomato /><path d="M30 25 L45 5 L58 25 z"/></svg></div>')
window.scrolled = (count) => new Promise((done) => {
  let n = 0
  const startedAt = performance.now()
  const next = () => (scrollBy(0, 40), ++n < count ? requestAnimationFrame(next) : done((performance.now() - startedAt) / count))
  requestAnimationFrame(next)
})</script>`

const site = createServer((request, response) => {
  response.setHeader('content-type', 'text/html')
  response.end(request.url === '/webgl' ? SHADER : ORDINARY)
})
await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`

type Reading = Record<string, number>
const readings: Record<string, Reading[]> = {}
const home = mkdtempSync(join(tmpdir(), 'berth-rendering-'))
chmodSync(home, 0o777)
const screen = run(
  'Xvnc',
  `:${DISPLAY} -geometry ${SIZE.width}x${SIZE.height} -depth 24 -SecurityTypes None -rfbport -1 -extension GLX`.split(
    ' ',
  ),
)
try {
  await pause(1_500)
  for (let round = 0; round < Number(process.argv[2] ?? 3); round++) {
    for (const [name, flags] of Object.entries(arms)) {
      const reading = await measure(join(home, `${round}-${Object.keys(arms).indexOf(name)}`), flags)
      readings[name] = [...(readings[name] ?? []), reading]
      console.log(name, JSON.stringify(reading))
    }
  }
  console.log('\nMedians:')
  for (const [name, all] of Object.entries(readings)) {
    const of = (key: string) =>
      all.map((reading) => reading[key]!).toSorted((a, b) => a - b)[all.length >> 1]!
    console.log(
      name,
      Object.fromEntries(Object.keys(all[0]!).map((key) => [key, Number(of(key).toFixed(1))])),
    )
  }
} finally {
  end(screen)
  site.close()
  rmSync(home, { recursive: true, force: true })
}

async function measure(profile: string, flags: readonly string[]): Promise<Reading> {
  mkdirSync(profile)
  chmodSync(profile, 0o777)
  const port = 20_000 + Math.floor(Math.random() * 20_000)
  const all = chromiumFlags({
    browser: { headless: false, ...SIZE, kiosk: false },
    profile,
    installsExtensions: false,
    devtoolsPort: port,
    proxyPort: undefined,
    restores: false,
    hasTabs: false,
  }).flatMap((flag) => (flag === SWIFTSHADER ? flags : [flag]))
  const startedAt = performance.now()
  const child = run('/usr/lib/chromium/chromium', all, profile)
  try {
    const browser = await connect(port, child)
    const startMs = performance.now() - startedAt
    const page = browser.contexts()[0]!.pages()[0]!
    const loads: number[] = []
    for (let load = 0; load < 3; load++) loads.push(await shown(page))
    const scrollMs = await page.evaluate<number>('scrolled(60)')
    await pause(1_000)
    const ordinaryMb = memoryMb(profile)
    const cpuBefore = cpuMs(profile)
    await page.evaluate('scrolled(60)')
    const scrollCpuMs = cpuMs(profile) - cpuBefore
    const firstWebglAt = performance.now()
    await page.goto(`${origin}/webgl`)
    const renderer = await page.evaluate<string>('renderer()')
    console.log(renderer)
    const frames = await page.evaluate<number[]>('frames(8)')
    const firstWebglMs = performance.now() - firstWebglAt
    const filters = gpuFilters(profile)
    const wireframeMs = await page.evaluate<number>('wireframe(50)')
    const webglMb = memoryMb(profile)
    await browser.close()
    return {
      startMs,
      loadMs: median(loads),
      scrollMs,
      scrollCpuMs,
      ordinaryMb,
      firstWebglMs,
      frameMs: median(frames),
      wireframeMs,
      webglMb,
      filters,
    }
  } finally {
    end(child)
    await pause(500)
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1]!
}

/** Until the page has been drawn, which a screenshot waits for. */
async function shown(page: Page): Promise<number> {
  const startedAt = performance.now()
  await page.goto(`${origin}/ordinary`)
  await page.screenshot()
  return performance.now() - startedAt
}

async function connect(port: number, child: ChildProcess): Promise<Browser> {
  const deadline = performance.now() + START_MS
  for (;;) {
    try {
      return await chromium.connectOverCDP(`http://127.0.0.1:${port}`)
    } catch (error) {
      if (performance.now() > deadline || child.exitCode !== null) throw error
      await pause(50)
    }
  }
}

/** Proportional, so that shared pages count once. */
function memoryMb(profile: string): number {
  return (
    sum(profile, (pid) =>
      Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]),
    ) / 1024
  )
}

function cpuMs(profile: string): number {
  return sum(profile, (pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10
  })
}

/** Filters of system calls that the GPU process has: none, if Chromium's sandbox for it is not on. */
function gpuFilters(profile: string): number {
  return sum(profile, (pid) => {
    if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--type=gpu-process')) return 0
    return Number(/^Seccomp_filters:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  })
}

/** Over the processes of one Chromium; those without its profile in the command line are its children. */
function sum(profile: string, read: (pid: string) => number): number {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const parentOf = new Map<string, string>()
  const own = new Set<string>()
  for (const pid of all) {
    try {
      parentOf.set(pid, readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[1]!)
      if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(profile)) own.add(pid)
    } catch {
      // It has just ended.
    }
  }
  const isOwn = (pid: string | undefined): boolean =>
    pid !== undefined && (own.has(pid) || isOwn(parentOf.get(pid)))
  return all.filter(isOwn).reduce((total, pid) => {
    try {
      return total + read(pid)
    } catch {
      return total
    }
  }, 0)
}

function run(command: string, args: readonly string[], directory = home): ChildProcess {
  const become = process.getuid!() === 0 ? { uid: USER, gid: USER } : {}
  const env = { PATH: '/usr/bin:/bin', HOME: directory, DISPLAY: `:${DISPLAY}` }
  const child = spawn(command, args, { ...become, env, detached: true, stdio: 'ignore' })
  child.once('error', (error) => console.error(error.message))
  return child
}

function end(child: ChildProcess): void {
  try {
    process.kill(-child.pid!, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
