// Runs tests against a session that is recorded, and keeps the video if they fail. Any test runner will do: it finds
// the session's address in CDP_WS_URL.
//
//   node ci/record-failures.ts node --test ci/site.test.ts
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Kernel from '@onkernel/sdk'

const FOLDER = 'replays'
const [command, ...args] = process.argv.slice(2)
if (command === undefined) throw new Error('Say what to run: node ci/record-failures.ts npm test')

const berth = new Kernel()
const session = await berth.browsers.create({ headless: true, timeout_seconds: 600 })
const id = session.session_id
try {
  const { replay_id } = await berth.browsers.replays.start(id)
  const tests = spawn(command, args, {
    stdio: 'inherit',
    env: { ...process.env, CDP_WS_URL: session.cdp_ws_url },
  })
  // A job that is cancelled ends its session, too.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => tests.kill(signal))
  const [code] = (await once(tests, 'exit')) as [number | null]
  await berth.browsers.replays.stop(replay_id, { id })
  if (code !== 0) await keep(replay_id)
  process.exitCode = code ?? 1
} finally {
  await berth.browsers.deleteByID(id)
}

async function keep(replayId: string): Promise<void> {
  let video = await berth.browsers.replays.download(replayId, { id })
  // Not ready yet.
  while (video.status === 202) {
    await delay(250)
    video = await berth.browsers.replays.download(replayId, { id })
  }
  await mkdir(FOLDER, { recursive: true })
  const file = join(FOLDER, `${replayId}.mp4`)
  await writeFile(file, Buffer.from(await video.arrayBuffer()))
  console.error(`The tests failed; see ${file}`)
}
