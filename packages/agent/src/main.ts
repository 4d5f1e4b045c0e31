// The main program inside an instance. It starts and supervises Chromium, connects clients to it, is the
// proxy for pages, and ends the instance when no server renews its lease. An unexpected error ends it
// too: the server notices, and an instance in an unknown state is useless.
import { agentExitCodes, instancePaths } from '@berth/contracts/link'
import { createApi } from './link/api.ts'
import { passToBidi } from './bidi/pass-to-bidi.ts'
import { HandOver } from './devtools/hand-over.ts'
import { passToDevtools } from './devtools/pass-to-devtools.ts'
import { Chromium } from './chromium/chromium.ts'
import { Controls } from './control/controls.ts'
import { ServiceLog } from './log/service-log.ts'
import {
  answerApps,
  answerLogin,
  answerPreview,
  answerRecording,
  answerUserData,
} from './packed/lazy-answers.ts'
import { Lease } from './instance/lease.ts'
import { openLink } from './link/link.ts'
import { agentLog, log } from './log/log.ts'
import { unpack } from './packed/packed.ts'
import { EgressAsks } from './network/egress-asks.ts'
import { Network } from './network/network.ts'
import { passToPlaywright } from './playwright/pass-to-playwright.ts'
import { createProxy } from './proxy/proxy.ts'
import { Screen } from './screen/screen.ts'
import { SoundOutput } from './sound/sound-output.ts'
import { SoundServer } from './sound/sound-server.ts'
import { secrets } from './secrets/secrets.ts'
import { readSettings } from './instance/settings.ts'
import { StateBoard } from './instance/state.ts'
import { Telemetry } from './telemetry/telemetry.ts'
import { loadNativeCalls, type NativeCalls } from './user/native-calls.ts'
import { keepOwnUid } from './user/own-uid.ts'
import { pathExists } from './user/path-exists.ts'
import { setUids } from './user/user.ts'

const given = readSettings(process.argv)
const { start, ports } = given
let network: Network | undefined
let calls: NativeCalls | undefined
// Before anything touches a file or starts a program.
if (start.uids) {
  const directories = [given.home, given.policies, '/var']
  calls = loadNativeCalls(instancePaths.nativeCalls)
  keepOwnUid({ user: start.uids.user, directories, calls, hasNetwork: start.hasNetwork ?? false })
  setUids(start.uids)
  if (start.hasNetwork) network = new Network({ egressSocket: given.egressSocket, calls, onBroken: endWith })
}

/** Programs could no longer connect, and nothing would say so. */
function endWith(error: unknown): void {
  log('The network of the instance is broken; ending it', error)
  process.exit(1)
}
if (pathExists(instancePaths.nativeCalls)) calls ??= loadNativeCalls(instancePaths.nativeCalls)
const sound = new SoundServer({
  temporary: given.temporary,
  calls,
  onPlaying: (isPlaying) => telemetry.sound(isPlaying),
  onUnused: () => chromium.endSound(),
})
const soundOutput = new SoundOutput(sound)
const settings = { ...given, environment: { ...given.environment, ...sound.environment } }
const state = new StateBoard()
const logs = { agent: agentLog, chromium: new ServiceLog(), display: new ServiceLog() }
const asks = new EgressAsks(settings.egressSocket)
const telemetry = new Telemetry({
  state,
  port: ports.devtools,
  secrets,
  failureOf: (to) => asks.failureOf(to),
  loadCapture: async () => (await unpack('telemetry')).Capture,
})
const chromium = new Chromium({
  settings,
  state,
  logs,
  environment: sound.environment,
  network: network?.isOpen,
  onCrash: (phase, pid) => telemetry.crashed('chromium', phase, pid),
  onStart: (cdp) => controls.extensions.loadAgain(cdp),
})

// First, so that Chromium starts in parallel with the rest.
if (start.browser) void chromium.start(start.browser).catch(() => {})

// Chromium and other programs lead their own process groups; outside an instance they would outlive the agent.
process.once('exit', () => {
  chromium.kill()
  controls.kill()
  sound.kill()
  network?.close()
})
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => process.exit(0))

const lease = new Lease({
  seconds: start.leaseSeconds,
  onLapsed: () => {
    log('The lease has lapsed; ending the instance')
    process.exit(agentExitCodes.leaseLapsed)
  },
})

const proxy = createProxy({
  egressSocket: settings.egressSocket,
  protectedPorts: Object.values(ports),
  hostLoopback: start.hostLoopback ?? false,
})
proxy.listen(ports.proxy, '127.0.0.1')

const controls = new Controls({
  settings,
  chromium,
  logs,
  loadComputer: async () => (await unpack('computer')).computerHandlers(chromium),
  loadTerminals: async () => (await unpack('terminals')).attach,
  onProcesses: (processes) => state.update({ processes }),
})

const devtools = new HandOver({ port: ports.devtools, chromium, calls })

const loadBidi = async () => (await unpack('bidi')).acceptBidi
const loadPlaywright = async () => (await unpack('playwright')).playwrightServer

const api = createApi({
  state,
  renewLease: (seconds) => lease.renew(seconds),
  startBrowser: (browser) => chromium.start(browser),
  shape: (shape) => chromium.shape(shape),
  setPolicy: (policy) => chromium.policies.set(policy),
  whenOpen: (timeoutMs) => chromium.whenOpen(timeoutMs),
  answerControl: controls.answer,
  answerRecording: answerRecording(chromium, soundOutput),
  answerPreview: answerPreview(chromium, secrets),
  answerUserData: answerUserData(chromium, settings.profile),
  answerApps: answerApps(settings),
  answerLogin: answerLogin(chromium, secrets, () => state.current.viewers ?? 0),
  upgrade: controls.upgrade,
  telemetry,
})

const screen = new Screen({
  chromium,
  sound: soundOutput,
  loadHeadlessViewer: async () => (await unpack('computer')).watchHeadless,
  loadDisplayViewer: async () => (await unpack('recording')).watchDisplay,
  onViewers: (viewers) => state.update({ viewers }),
})

openLink({
  at: settings.link,
  handlers: {
    api: (connection) => api.emit('connection', connection),
    cdp: (connection) => void passToDevtools(connection, { port: ports.devtools, chromium }),
    screen: screen.accept,
    bidi: (connection) => void passToBidi(connection, { port: ports.devtools, chromium, loadBidi }),
    playwright: passToPlaywright({ settings, chromium, loadPlaywright }),
    take: devtools.take,
    give: devtools.give,
  },
})
