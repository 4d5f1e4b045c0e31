// Sessions on the GPU of this machine. Each figure that is measured is printed, so that a run can be compared with another.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { chromium, type Browser, type Page } from 'playwright-core'
import { isSoftwareRenderer } from '@berth/contracts/gpu'
import { findGpus } from '@berth/server/instances/local/gpu/find-gpus'
import { listGpus } from '@berth/server/instances/local/gpu/listing'
import { DEFAULT_UID_BASE } from '@berth/server/instances/local/uids'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { decodePng } from '../fixtures/decode-png.ts'
import { eventually } from '../fixtures/host.ts'
import { downloadReplay, startReplay, stopReplay } from '../fixtures/replays.ts'
import { RfbClient, screenUrl } from '../fixtures/rfb.ts'
import { startServer, type TestServer } from '../fixtures/server.ts'
import { createSession, send, type Session } from '../fixtures/sessions.ts'
import { framesOf, isNear } from '../fixtures/video.ts'
import { startBareBrowser } from './bare-browser.ts'
import { frameTime, median, openPage, paint, rendererOf, SIZE } from './page.ts'

const MAX_SESSIONS = 2
const BLUE = [20, 40, 160] as const
const pictures = process.env['BERTH_TEST_PICTURES']
if (pictures !== undefined) mkdirSync(pictures, { recursive: true })

const fileOwner = { after }
const [gpu] = findGpus(listGpus(''), 'auto').gpus
const weak: Record<string, string> = process.env['BERTH_ALLOW_WEAK_ISOLATION']
  ? { BERTH_ALLOW_WEAK_ISOLATION: 'true' }
  : {}
const server = await startServer(fileOwner, {
  hasRealInstances: true,
  env: {
    BERTH_GPU: gpu!.device,
    BERTH_GPU_MAX_SESSIONS: String(MAX_SESSIONS),
    BERTH_LOG_LEVEL: 'info',
    ...weak,
  },
})
const say = (what: string, value: unknown) => console.log(`measured ${what}: ${String(value)}`)
const inMs = (ms: number) => `${ms.toFixed(2)} ms`

async function open(
  t: TestContext,
  body: object = {},
  at: TestServer = server,
): Promise<{ session: Session; browser: Browser; page: Page }> {
  const startedAt = performance.now()
  const options = { headless: false, gpu: true, kiosk_mode: true, viewport: SIZE, timeout_seconds: 600 }
  const session = await createSession(at, { ...options, ...body })
  say('create', inMs(performance.now() - startedAt))
  cleanUpAfter(t, async () => void (await send(at, 'DELETE', `/browsers/${session.session_id}`)))
  const browser = await chromium.connectOverCDP(session.cdp_ws_url)
  cleanUpAfter(t, () => browser.close())
  const page = browser.contexts()[0]!.pages()[0]!
  await openPage(page)
  return { session, browser, page }
}

interface ChromiumProcess {
  readonly pid: number
  /** Of system calls. */
  readonly filters: number
}

/** Of all sessions and of nothing else: the bare browser has another user. */
function processesOf(type: string): ChromiumProcess[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8')
      if (!command.includes(`--type=${type}`)) return []
      const status = readFileSync(`/proc/${name}/status`, 'utf8')
      if (Number(/^Uid:\s*(\d+)/m.exec(status)?.[1]) < DEFAULT_UID_BASE) return []
      return { pid: Number(name), filters: Number(/^Seccomp_filters:\s*(\d+)/m.exec(status)?.[1]) }
    } catch {
      return []
    }
  })
}

const filtersOf = (type: string) => processesOf(type).map(({ filters }) => filters)

/** Undefined where there is no program that says it. */
function usedMemoryMb(): number | undefined {
  try {
    const query = ['--query-gpu=memory.used', '--format=csv,noheader,nounits']
    return Number(execFileSync('nvidia-smi', query, { encoding: 'utf8' }).split('\n')[0])
  } catch {
    return undefined
  }
}

async function screenshot(session: Session): Promise<Buffer> {
  const answer = await server.fetch(`/browsers/${session.session_id}/computer/screenshot`, { method: 'POST' })
  assert.equal(answer.status, 200)
  return Buffer.from(await answer.arrayBuffer())
}

const colourOf = ([red, green, blue]: readonly number[]) => (red! << 16) | (green! << 8) | blue!
const keep = (name: string, content: Buffer) => pictures && writeFileSync(join(pictures, name), content)

test('the server names the GPU at its start and in /status', async () => {
  assert.match(server.output(), /GPU found/)
  const status = await (await server.fetch('/status')).text()
  const detail = /"name":"GPU sessions","status":"operational","detail":"([^"]+)"/.exec(status)?.[1]
  assert.ok(detail, status)
  say('GPU', detail)
})

test('WebGL, WebGPU and pages are on the GPU, pages have their sandbox, and the session sees no other device', async (t) => {
  const { session, browser, page } = await open(t)
  const renderer = await rendererOf(page)
  say('renderer', renderer)
  assert.equal(isSoftwareRenderer(renderer), false, renderer)
  assert.deepEqual((await paint(page, BLUE)).slice(0, 3), [...BLUE])
  const cdp = await browser.newBrowserCDPSession()
  const { gpu: info } = (await cdp.send('SystemInfo.getInfo')) as {
    gpu: { featureStatus?: Record<string, string> }
  }
  say('features', JSON.stringify(info.featureStatus))
  assert.match(info.featureStatus?.['gpu_compositing'] ?? '', /^enabled/, 'pages are put together on the GPU')
  assert.match(info.featureStatus?.['rasterization'] ?? '', /^enabled/, 'pages are drawn on the GPU')
  say('system call filters of the GPU process, one of which is ours', filtersOf('gpu-process').join(', '))
  assert.ok(filtersOf('gpu-process').every((count) => count >= 1))
  assert.ok(filtersOf('renderer').length > 0)
  assert.ok(
    filtersOf('renderer').every((count) => count >= 2),
    'pages have the filter of Chromium too',
  )
  const run = { command: 'sh', args: ['-c', 'ls /dev /dev/dri 2>/dev/null; id'], timeout_sec: 10 }
  const answer = await send<{ stdout_b64: string }>(
    server,
    'POST',
    `/browsers/${session.session_id}/process/exec`,
    run,
  )
  const devices = Buffer.from(answer.body.stdout_b64, 'base64').toString()
  say('/dev', devices.replaceAll('\n', ' '))
  const own = gpu!.devices.map(({ path }) => path.split('/').at(-1)!)
  const strange = devices
    .split('\n')
    .filter((name) => /^(nvidia|renderD|card)/.test(name) && !own.includes(name))
  assert.deepEqual(strange, [])
  const webgpu = await page.evaluate<string>('webgpu()')
  say('WebGPU', webgpu)
  assert.equal((JSON.parse(webgpu) as { answer: number }).answer, 42)
})

test('a frame takes as long as in a bare browser, and a tenth of what a program needs', async (t) => {
  const { page } = await open(t)
  const bare = await startBareBrowser(t, gpu!)
  const barePage = bare.contexts()[0]!.pages()[0]!
  await openPage(barePage)
  say('renderer of the bare browser', await rendererOf(barePage))
  const times = { session: [] as number[], bare: [] as number[] }
  for (let round = 0; round < 7; round++) {
    times.session.push(await frameTime(page, 40))
    times.bare.push(await frameTime(barePage, 40))
  }
  const [ours, theirs] = [median(times.session), median(times.bare)]
  say('frame in a session', `${inMs(ours)} (${times.session.map((ms) => ms.toFixed(2)).join(' ')})`)
  say('frame in a bare browser', `${inMs(theirs)} (${times.bare.map((ms) => ms.toFixed(2)).join(' ')})`)
  say('session against bare', (ours / theirs).toFixed(3))
  say('frames per second, session', (await page.evaluate<number>('framesPerSecond(3000)')).toFixed(1))
  say('frames per second, bare', (await barePage.evaluate<number>('framesPerSecond(3000)')).toFixed(1))
  say(
    'frames per second of a light page, session and bare',
    (
      await Promise.all(
        [page, barePage].map(async (each) =>
          (await each.evaluate<number>('framesPerSecond(3000, true)')).toFixed(1),
        ),
      )
    ).join(', '),
  )
  const software = await open(t, { gpu: false })
  say('renderer without gpu', await rendererOf(software.page))
  const slow = await frameTime(software.page, 5)
  say('frame without gpu', inMs(slow))
  say('without gpu against with', (slow / ours).toFixed(1))
  assert.ok(ours <= 1.1 * theirs, `${inMs(ours)} against ${inMs(theirs)}`)
  assert.ok(slow >= 10 * ours, `${inMs(ours)} against ${inMs(slow)}`)
})

test('screenshot, live view and recording show what the GPU drew, also after a change of size', async (t) => {
  const { session, page } = await open(t)
  const replay = await startReplay(server, session.session_id, { framerate: 60 })
  await paint(page, BLUE)
  await eventually(
    'the screenshot',
    async () => decodePng(await screenshot(session)).at(900, 500) === colourOf(BLUE),
  )
  keep('screenshot.png', await screenshot(session))
  const fills = new Set<number>()
  const viewer = await RfbClient.overWebSocket(screenUrl(session.browser_live_view_url!), {
    isContinuous: true,
    onFill: ({ colour, width, height }) => void (width * height > 2000 && fills.add(colour)),
  })
  cleanUpAfter(t, async () => void (await viewer.close()))
  await eventually('the live view', () => fills.has(colourOf(BLUE)))
  say(
    'frames per second while watched and recorded',
    (await page.evaluate<number>('framesPerSecond(4000)')).toFixed(1),
  )
  keep('screenshot-of-the-shader.png', await screenshot(session))
  const smaller = { width: 1280, height: 720 }
  const answer = await send(server, 'PATCH', `/browsers/${session.session_id}`, {
    viewport: { ...smaller, force: true },
  })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  await eventually('the size', async () => decodePng(await screenshot(session)).width === smaller.width)
  await paint(page, [160, 20, 40])
  await eventually(
    'the new size',
    async () => decodePng(await screenshot(session)).at(600, 400) === colourOf([160, 20, 40]),
  )
  await stopReplay(server, session.session_id, replay)
  const video = await downloadReplay(server, session.session_id, replay)
  keep('recording.mp4', video)
  const frames = framesOf(video, { x: 100, y: 100 })
  say('frames of the recording', frames.length)
  assert.ok(
    frames.some(({ colour }) => isNear(colour, BLUE)),
    'the recording has the colour',
  )
})

test('sessions share the GPU up to its limit, and a further one is told so', async (t) => {
  const both = await Promise.all([open(t), open(t)])
  const times = await Promise.all(both.map(({ page }) => frameTime(page, 40)))
  say('frame with two sessions at once', times.map(inMs).join(', '))
  for (const { page } of both) assert.equal(isSoftwareRenderer(await rendererOf(page)), false)
  const third = await send(server, 'POST', '/browsers', { headless: false, gpu: true })
  say('a third', `${third.status} ${third.body.message}`)
  assert.equal(third.body.code, 'capacity_exhausted')
  assert.match(third.body.message!, /BERTH_GPU_MAX_SESSIONS/)
  const refused = await send(server, 'POST', '/browsers', { headless: true, gpu: true })
  assert.equal(refused.status, 400)
})

test('a GPU process that crashes is replaced by one that also renders on the GPU', async (t) => {
  const { page } = await open(t)
  for (let round = 0; round < 8; round++) {
    const [before] = processesOf('gpu-process')
    process.kill(before!.pid, 'SIGKILL')
    await eventually('another GPU process', () =>
      processesOf('gpu-process').some(({ pid }) => pid !== before!.pid),
    )
    let renderer = ''
    await eventually('the GPU', async () => {
      await openPage(page)
      renderer = await rendererOf(page)
      return !isSoftwareRenderer(renderer) && renderer !== 'no WebGL'
    }).catch((error: unknown) => {
      throw new Error(`after crash ${round + 1} the renderer is "${renderer}"`, { cause: error })
    })
  }
  say('renderer after 8 crashes', await rendererOf(page))
  assert.deepEqual((await paint(page, BLUE)).slice(0, 3), [...BLUE])
})

test('a session with a GPU does not go on standby', async (t) => {
  const answer = await send(server, 'POST', '/browsers', {
    headless: false,
    gpu: true,
    standby_after_seconds: 5,
  })
  assert.equal(answer.status, 400)
  assert.match(answer.body.message!, /standby_after_seconds/)
  const session = await createSession(server, { headless: false, gpu: true })
  cleanUpAfter(t, async () => void (await send(server, 'DELETE', `/browsers/${session.session_id}`)))
  // Others are frozen after 5 seconds without a client. There is no event for what does not happen.
  await new Promise((resolve) => setTimeout(resolve, 7_000))
  const { body } = await send<Session & { state: string }>(server, 'GET', `/browsers/${session.session_id}`)
  assert.equal(body.state, 'ready')
})

test('a warm session is there at once, and is on the GPU', async (t) => {
  const warm = await startServer(t, {
    hasRealInstances: true,
    env: { BERTH_GPU: gpu!.device, BERTH_WARM_GPU: '1', ...weak },
  })
  const ready = async () =>
    /berth_warm_instances\{kind="gpu"\} 1$/m.test(await (await warm.fetch('/metrics')).text())
  await eventually('a warm one', ready)
  const { session, page } = await open(t, {}, warm)
  assert.equal(isSoftwareRenderer(await rendererOf(page)), false)
  await send(warm, 'DELETE', `/browsers/${session.session_id}`)
})

test('the end of a session frees the memory of the GPU', async (t) => {
  await eventually('no GPU process', () => processesOf('gpu-process').length === 0)
  const before = usedMemoryMb()
  const { session, page } = await open(t)
  await page.evaluate(`(() => { const size = 256 << 20
    window.kept = gl.createBuffer(); gl.bindBuffer(gl.ARRAY_BUFFER, window.kept)
    gl.bufferData(gl.ARRAY_BUFFER, new Uint8Array(size).fill(7), gl.STATIC_DRAW); finish() })()`)
  const during = usedMemoryMb()
  await send(server, 'DELETE', `/browsers/${session.session_id}`)
  await eventually('no GPU process', () => processesOf('gpu-process').length === 0)
  if (before === undefined || during === undefined) return t.skip('nvidia-smi is not there')
  await eventually('the memory is free', () => usedMemoryMb()! <= before + 8)
  say('memory of the GPU before, during and after', `${before}, ${during}, ${usedMemoryMb()} MB`)
  assert.ok(during > before)
})
