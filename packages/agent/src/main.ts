// The main program inside an instance. It starts and supervises Chromium, connects clients to it, is the
// proxy for pages, and ends the instance when no server renews its lease. An unexpected error ends it
// too: the server notices, and an instance in an unknown state is useless.
import { agentExitCodes } from '@berth/contracts/link'
import { createApi } from './api.ts'
import { passToBidi } from './bidi.ts'
import { passToDevtools } from './cdp.ts'
import { Chromium } from './chromium/chromium.ts'
import { Controls } from './control/controls.ts'
import { ServiceLog } from './control/logs/service-log.ts'
import { answerApps, answerLogin, answerRecording, answerUserData } from './lazy-answers.ts'
import { Lease } from './lease.ts'
import { Link } from './link.ts'
import { agentLog, log } from './log.ts'
import { createProxy } from './proxy.ts'
import { Screen } from './screen/screen.ts'
import { secrets } from './secrets.ts'
import { readSettings } from './settings.ts'
import { StateBoard } from './state.ts'
import { Telemetry } from './telemetry/telemetry.ts'

const settings = readSettings(process.argv)
const { start, ports } = settings
const state = new StateBoard()
const logs = { agent: agentLog, chromium: new ServiceLog(), display: new ServiceLog() }
const telemetry = new Telemetry({ state, port: ports.devtools, secrets })
const chromium = new Chromium({
  settings,
  state,
  logs,
  onCrash: (phase, pid) => telemetry.crashed('chromium', phase, pid),
  onStart: (cdp) => controls.extensions.loadAgain(cdp),
})

// First, so that Chromium starts in parallel with the rest.
if (start.browser) void chromium.start(start.browser).catch(() => {})

// Chromium and other programs lead their own process groups; outside an instance they would outlive the agent.
process.once('exit', () => {
  chromium.kill()
  controls.kill()
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
  onProcesses: (processes) => state.update({ processes }),
})

const api = createApi({
  state,
  renewLease: (seconds) => lease.renew(seconds),
  startBrowser: (browser) => chromium.start(browser),
  shape: (shape) => chromium.shape(shape),
  setPolicy: (policy) => chromium.policies.set(policy),
  whenOpen: (timeoutMs) => chromium.whenOpen(timeoutMs),
  answerControl: controls.answer,
  answerRecording: answerRecording(chromium),
  answerUserData: answerUserData(chromium, settings.profile),
  answerApps: answerApps(settings),
  answerLogin: answerLogin(chromium, secrets),
  upgrade: controls.upgrade,
  telemetry,
})

const screen = new Screen({ chromium, onViewers: (viewers) => state.update({ viewers }) })

new Link({
  path: settings.linkSocket,
  handlers: {
    api: (connection) => api.emit('connection', connection),
    cdp: (connection) => void passToDevtools(connection, { port: ports.devtools, chromium }),
    screen: screen.accept,
    bidi: (connection) => void passToBidi(connection, { port: ports.devtools, chromium }),
  },
}).open()
