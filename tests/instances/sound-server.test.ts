// The sound server as the agent runs it, with a real PulseAudio and its own programs.
import assert from 'node:assert/strict'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { findNativeCalls } from '@berth/server/instances/local/programs'
import { SoundOutput, type SoundPiece } from '../../packages/agent/src/sound/sound-output.ts'
import { SoundServer } from '../../packages/agent/src/sound/sound-server.ts'
import { loadNativeCalls } from '../../packages/agent/src/user/native-calls.ts'
import { eventually } from '../fixtures/host.ts'

const temporary = mkdtempSync(join(tmpdir(), 'berth-sound-'))
after(() => rmSync(temporary, { recursive: true, force: true }))
const calls = loadNativeCalls(findNativeCalls()!)

interface Heard {
  readonly sound: SoundServer
  readonly playing: boolean[]
  unused: number
}

function start(t: TestContext, seconds = { unused: 60, idle: 1 }): Heard {
  const heard: Heard = {
    sound: new SoundServer({
      temporary,
      calls,
      seconds,
      onPlaying: (isPlaying) => heard.playing.push(isPlaying),
      onUnused: () => heard.unused++,
    }),
    playing: [],
    unused: 0,
  }
  t.after(() => heard.sound.kill())
  return heard
}

/** Plays noise until it is killed. */
function play(t: TestContext, { environment }: SoundServer): ChildProcess {
  const child = spawn('pacat', ['--raw', '/dev/urandom'], {
    env: { PATH: process.env['PATH'], HOME: temporary, ...environment },
    stdio: 'ignore',
  })
  t.after(() => child.kill('SIGKILL'))
  return child
}

test('it starts with the first program, says what plays, ends with the last one, and starts again', async (t) => {
  const { sound, playing } = start(t)
  assert.ok(sound.isThere)
  for (const round of [1, 2]) {
    assert.equal(sound.isRunning, false)
    const player = play(t, sound)
    await eventually('it plays', () => playing.length === 2 * round - 1)
    assert.equal(sound.isRunning, true)
    player.kill()
    await eventually('it is silent', () => playing.length === 2 * round)
    assert.deepEqual(playing.slice(-2), [true, false])
    await eventually('it has ended', () => !sound.isRunning)
  }
})

test('what is played comes out, in time, for all who listen and only while they do', async (t) => {
  const { sound } = start(t)
  const output = new SoundOutput(sound)
  const pieces: SoundPiece[] = []
  const listening = output.listen((piece) => pieces.push(piece))
  play(t, sound)
  await eventually('there is sound', () => pieces.filter(({ isSilent }) => !isSilent).length > 20)
  listening[Symbol.dispose]()
  const count = pieces.length
  for (const [index, { at, samples }] of pieces.slice(1).entries()) {
    assert.equal(samples.length % 4, 0)
    const { at: before, samples: last } = pieces[index]!
    const expected = before + (last.length / 4 / 44_100) * 1000
    assert.ok(Math.abs(at - expected) < 150, `a piece at ${at} follows ${expected}`)
  }
  await eventually('more was played', () => performance.now() - pieces.at(-1)!.at > 300)
  assert.equal(pieces.length, count)
})

test('it tells when programs are connected and none of them plays', async (t) => {
  const heard = start(t, { unused: 0.5, idle: 1 })
  const idle = connect(heard.sound.environment['PULSE_SERVER']!.replace('unix:', ''))
  t.after(() => idle.destroy())
  await once(idle, 'connect')
  await eventually('it says so', () => heard.unused === 1)
  const player = play(t, heard.sound)
  await eventually('it plays', () => heard.playing.length === 1)
  assert.equal(heard.unused, 1)
  player.kill()
  await eventually('it says so again', () => heard.unused === 2)
})

test('programs are refused when it cannot start', async (t) => {
  const { sound } = start(t)
  const path = sound.environment['PULSE_SERVER']!.replace('unix:', '')
  await eventually('it is given up', () => {
    const client = connect(path)
    client.on('error', () => {})
    client.once('connect', () => client.destroy())
    spawnSync('pkill', ['-9', '-f', `socket=${path}`])
    return !sound.isThere
  })
  const [error] = (await once(connect(path), 'error')) as [NodeJS.ErrnoException]
  assert.ok(error.code === 'ECONNREFUSED' || error.code === 'ENOENT', error.code)
})
