// What recording a session costs, and how much it slows the session down.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Browser } from '@berth/contracts/browsers'
import { findProgram } from '@berth/server/instances/local/programs'
import { RfbClient, screenUrl } from '../../../tests/fixtures/rfb.ts'
import { asFile, framesOf, isNear, probe, ssimOf } from '../../../tests/fixtures/video.ts'
import { BareChromium, chromiumProgram } from '../subjects/bare-chromium.ts'
import { Page } from '../subjects/page.ts'
import { SessionReplay } from '../subjects/replay.ts'
import type { SessionServer } from '../subjects/session-server.ts'
import { whyNoHeadfulSessions } from '../subjects/session-servers.ts'
import { whyNoProgram } from '../subjects/spawned.ts'
import { compare, type Measuring } from '../measure/compare.ts'
import { atMost, type Goal, type Metric } from '../measure/metric.ts'
import type { Block } from '../measure/pairs.ts'
import { commandOf, cpuMsOf } from '../measure/processes.ts'
import { quantile } from '../measure/statistics.ts'
import { connectAgent, runLoop } from './agent-loop.ts'
import { show } from './recording-scenes.ts'
import type { ProcessPlace, ProcessRow } from './row.ts'

/** The API's maximum without a GPU; the baseline uses the same. */
const FRAMERATE = 20
/** The start of an encoder must not count as the cost of a second of video. */
const START_MS = 1_500
const MIN_SSIM = 0.97
const MAX_LATE_SECONDS = 0.08

const goals: Readonly<Record<'still' | 'spinner' | 'scroll', Goal>> = {
  still: atMost(0.15, 0.03),
  spinner: atMost(0.6, 0.25),
  scroll: atMost(1, 0.6),
}

const whySkipped = () => whyNoHeadfulSessions() ?? whyNoProgram('ffmpeg')

export const recordingCpuRow: ProcessRow = {
  number: 18,
  title: 'CPU of recording a headful session, against ffmpeg x11grab',
  whySkipped,
  async *measureProcesses(place, measuring) {
    const { effort } = measuring
    const server = await place.servers.one({})
    const browser = await server.create({ headless: false })
    const chromium = await BareChromium.start(place.cleanup, { cores: place.cores.server, isHeadless: false })
    const pages = { ours: await Page.open(browser.cdp_ws_url), bare: await Page.open(chromium.wsUrl) }
    await Promise.all([server.settled({ sessions: 1 }), chromium.settled(effort)])
    if (effort.isJudged) await assertFaithful(pages.ours, server, browser)
    for (const [scene, goal] of Object.entries(goals) as [keyof typeof goals, Goal][]) {
      await Promise.all([show(pages.ours, scene), show(pages.bare, scene)])
      const metrics: Metric[] = [
        { ...line(18, `Recording, ${scene}: CPU added per second of video`, 'addedMs', 'ms'), goal },
        line(18, `Recording, ${scene}: of it X server`, 'displayMs', 'ms'),
      ]
      const blocks = {
        ours: oursBlock(server, browser, measuring),
        baseline: ffmpegBlock(place, chromium, measuring),
      }
      yield await compare({ blocks, pairs: effort.recordingPairs, metrics, isRestless: true }, measuring)
    }
    await Promise.all([pages.ours.close(), pages.bare.close()])
    await server.delete(browser)
    await chromium.end()
  },
}

export const recordedLoopRow: ProcessRow = {
  number: 19,
  title: 'Agent loop of ten steps in a recorded session, against an unrecorded one',
  whySkipped,
  async *measureProcesses({ servers }, measuring) {
    const { effort } = measuring
    const server = await servers.one({})
    const site = await servers.site()
    const browser = await server.create({ headless: false })
    const agent = await connectAgent(browser.cdp_ws_url, site.url)
    await server.settled({ sessions: 1 })
    const loop: Block = async () => {
      const stepsMs = await runLoop(agent)
      return {
        stepMs: stepsMs.reduce((sum, each) => sum + each, 0) / stepsMs.length,
        p95Ms: quantile(stepsMs, 0.95),
      }
    }
    const recorded: Block = async () => {
      const replay = await SessionReplay.start(browser, {})
      await pause(effort.isJudged ? START_MS : 0)
      const readings = await loop()
      await replay.stop()
      assert.ok(framesOf(await replay.download(), { x: 10, y: 10 }).length > 2)
      return readings
    }
    yield await compare(
      {
        blocks: { ours: recorded, baseline: loop },
        pairs: effort.loopPairs,
        metrics: [
          { ...line(19, 'Agent loop while recorded: step', 'stepMs', 'ms'), goal: atMost(1.15, 1.05) },
          line(19, 'Agent loop while recorded: p95 of a step', 'p95Ms', 'ms'),
        ],
      },
      measuring,
    )
    await agent.browser.close()
    await server.delete(browser)
  },
}

/** A viewer and a recording at once: they share one capture of the screen. */
export const watchedRecordingRow: ProcessRow = {
  number: 22,
  title: 'CPU of recording a session with a viewer, against recording alone',
  whySkipped,
  async *measureProcesses({ servers }, measuring) {
    const server = await servers.one({})
    const browser = await server.create({ headless: false })
    const page = await Page.open(browser.cdp_ws_url)
    await server.settled({ sessions: 1 })
    await show(page, 'scroll')
    const viewer = async () => {
      const url = screenUrl(browser.browser_live_view_url!)
      const watching = await RfbClient.overWebSocket(url, { isContinuous: true })
      return {
        [Symbol.asyncDispose]: async () => {
          assert.ok(watching.updates > 0, 'the viewer saw nothing')
          await watching.close()
        },
      }
    }
    const blocks = {
      ours: oursBlock(server, browser, measuring, viewer),
      baseline: oursBlock(server, browser, measuring),
    }
    const name = 'Recording while watched, scroll: CPU added per second'
    const metrics: Metric[] = [{ ...line(22, name, 'addedMs', 'ms'), goal: atMost(1.4, 1.15) }]
    const pairs = measuring.effort.recordingPairs
    yield await compare({ blocks, pairs, metrics, isRestless: true }, measuring)
    await page.close()
    await server.delete(browser)
  },
}

function line(row: number, name: string, reading: string, unit: string): Metric {
  return { row, name, reading, unit, digits: 1, judged: 'ratio' }
}

interface Cpu {
  readonly all: number
  readonly display: number
}

/** The extra CPU time per second while it records. */
async function added(
  cpu: () => Cpu,
  { effort, signal }: Measuring,
  recording: () => Promise<AsyncDisposable>,
): Promise<{ addedMs: number; displayMs: number }> {
  const window = async () => {
    const [before, startedAt] = [cpu(), performance.now()]
    await pause(effort.recordingSeconds * 1000, undefined, { signal })
    const [after, seconds] = [cpu(), (performance.now() - startedAt) / 1000]
    return { all: (after.all - before.all) / seconds, display: (after.display - before.display) / seconds }
  }
  const off = await window()
  await using running = new AsyncDisposableStack()
  running.use(await recording())
  await pause(effort.isJudged ? START_MS : 0)
  const on = await window()
  // At least one tick of the CPU clock: zero has no ratio.
  return {
    addedMs: Math.max(on.all - off.all, 10 / effort.recordingSeconds),
    displayMs: on.display - off.display,
  }
}

/**
 * Everything but the browser: agent, encoder, X server, our server and its database. `beside` is opened with
 * the recording, for example a viewer.
 */
export function oursBlock(
  server: SessionServer,
  browser: Browser,
  measuring: Measuring,
  beside?: () => Promise<AsyncDisposable>,
): Block {
  const cpu = () => {
    const { daemon, postgres, instances } = server.processes()
    const inside = [...instances.values()].flat().filter((pid) => !commandOf(pid).startsWith(chromiumProgram))
    const display = inside.filter((pid) => commandOf(pid).startsWith('Xvnc'))
    return { all: cpuMsOf([...daemon, ...postgres, ...inside]), display: cpuMsOf(display) }
  }
  return () =>
    added(cpu, measuring, async () => {
      const other = await beside?.()
      const replay = await SessionReplay.start(browser, { framerate: FRAMERATE })
      return {
        [Symbol.asyncDispose]: async () => {
          await other?.[Symbol.asyncDispose]()
          // The recording ends between the call and its answer.
          const least = (Date.now() - replay.startedAt) / 1000
          await replay.stop()
          const most = (Date.now() - replay.startedAt) / 1000
          const video = await replay.download()
          const seconds = Number(probe(video).format.duration)
          assert.ok(
            seconds > least - 0.15 && seconds < most + 0.15,
            `${seconds} s of video, ${least} to ${most} s recorded`,
          )
        },
      }
    })
}

function ffmpegBlock({ cores }: ProcessPlace, chromium: BareChromium, measuring: Measuring): Block {
  return async () => {
    let recorder: number | undefined
    const cpu = () => {
      const display = cpuMsOf(chromium.pids().filter((pid) => commandOf(pid).includes('Xvnc')))
      return { all: display + (recorder === undefined ? 0 : cpuMsOf([recorder])), display }
    }
    return added(cpu, measuring, async () => {
      const directory = mkdtempSync(join(tmpdir(), 'berth-grab-'))
      const file = join(directory, 'grab.mp4')
      const grab = `-v error -f x11grab -framerate ${FRAMERATE} -video_size 1920x1080 -i ${chromium.display}`
      const encode = '-c:v libx264 -preset ultrafast -pix_fmt yuv420p -movflags frag_keyframe+empty_moov'
      const args = [
        '--cpu-list',
        cores.server,
        findProgram('ffmpeg')!,
        ...`${grab} ${encode} ${file}`.split(' '),
      ]
      const child = spawn('taskset', args, { stdio: ['pipe', 'ignore', 'ignore'], env: { HOME: directory } })
      recorder = child.pid!
      return {
        [Symbol.asyncDispose]: async () => {
          child.stdin.end('q')
          await once(child, 'exit')
          const seconds = Number(probe(readFileSync(file)).format.duration)
          const { isJudged, recordingSeconds } = measuring.effort
          assert.ok(seconds >= recordingSeconds - 0.5 || !isJudged, `${seconds} s of video`)
          rmSync(directory, { recursive: true, force: true })
        },
      }
    })
  }
}

/** The video shows what the page showed, and when. */
async function assertFaithful(page: Page, server: SessionServer, browser: Browser): Promise<void> {
  await show(page, 'still')
  const still = await SessionReplay.start(browser, { framerate: FRAMERATE })
  await pause(1_000)
  const { bytes: picture } = await server.control(browser, 'computer/screenshot', {})
  await still.stop()
  const ssim = asFile(await still.download(), (path) => ssimOf(path, picture))
  assert.ok(ssim >= MIN_SSIM, `SSIM ${ssim}`)

  await show(page, 'flips')
  const replay = await SessionReplay.start(browser, { framerate: FRAMERATE })
  await pause(6_500)
  const flips = ((await page.evaluate('flips')) as number[]).filter((at) => at > replay.startedAt + 100)
  await replay.stop()
  const frames = framesOf(await replay.download(), { x: 400, y: 800 })
  const isRed = frames.map(({ colour }) => isNear(colour, [255, 0, 0], 30))
  const seen = frames.filter((_frame, index) => index > 0 && isRed[index] !== isRed[index - 1])
  for (const flip of flips) {
    const at = (flip - replay.startedAt) / 1000
    const nearest = Math.min(...seen.map(({ seconds }) => Math.abs(seconds - at)))
    assert.ok(nearest <= MAX_LATE_SECONDS, `a flip at ${at} s is ${nearest} s away from one in the video`)
  }
  console.log(`Row 18: SSIM ${ssim.toFixed(4)}, ${flips.length} flips within ${MAX_LATE_SECONDS * 1000} ms`)
}
