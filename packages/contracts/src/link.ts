// What the server and the agent inside an instance agree on. The agent dials: it keeps a few idle
// connections to a unix socket that the server listens on, in a directory that only the server can
// write. On such a connection the server writes one line, the purpose, and from then on it carries
// what the purpose says. A connection that is used up or lost is dialled again, also after a restart
// of the server.
import { Type, type Static } from 'typebox'
import { Nullable, OneOf, Strict } from './schema.ts'
import type { Category } from './telemetry-events.ts'

/**
 * api: HTTP/1.1 requests to the agent. cdp: the bytes of Chromium's debugging port. bidi: a WebDriver
 * BiDi websocket, beginning with its HTTP upgrade. screen: the remote framebuffer protocol, beginning with the
 * version that the server of the two says.
 */
export const linkPurposes = ['api', 'cdp', 'bidi', 'screen'] as const
export type LinkPurpose = (typeof linkPurposes)[number]

/** Where things are inside an instance. */
export const instancePaths = {
  /** Bound read-only from the server's directory; sockets come and go in it as servers do. */
  link: '/run/berth/link.sock',
  egress: '/run/berth/egress.sock',
  node: '/run/berth-agent/node',
  agent: '/run/berth-agent/agent.mjs',
  playwrightRunner: '/run/berth-agent/playwright.cjs',
  esbuild: '/run/berth-agent/esbuild',
  home: '/home/kernel',
  profile: '/home/kernel/user-data',
  /** Of the distribution's Chromium. */
  policies: '/etc/chromium/policies',
  extensions: '/home/kernel/extensions',
} as const

/** On the instance's own loopback. Pages and tenant programs reach none of them but the proxy. */
export const instancePorts = { devtools: 9222, proxy: 3128 } as const

/** What an app asks the proxy for to reach our own API; open only to instances that run apps. */
export const API_HOST = 'api.berth.internal'
/** Where the agent of such an instance takes connections for it, on the instance's own loopback. */
export const API_PORT = 8080

/** Of the agent, and so of its instance, when it ends by itself for a reason. */
export const agentExitCodes = { leaseLapsed: 3 } as const

/**
 * How a request to somebody else, and its answer, are told apart from those between server and agent: their
 * headers have this before their names, and the status has a header of its own.
 */
export const relay = { header: 'relay-header-', status: 'relay-status' } as const

/** How many connections the agent keeps dialled and unused. */
export const SPARE_LINKS = 2

const size = (most: number, least: number) => Type.Integer({ minimum: least, maximum: most })

export const BrowserStart = Strict(
  {
    headless: Type.Boolean(),
    width: size(7680, 320),
    height: size(4320, 240),
    kiosk: Type.Boolean(),
    /** Such as de-DE; en-US without it. */
    locale: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9-]{2,35}$' })),
    /** Such as Europe/Berlin; UTC without it. */
    timezone: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_+/-]{1,64}$' })),
  },
  { title: 'BrowserStart' },
)
export type BrowserStart = Static<typeof BrowserStart>

/** The one argument of the agent, as JSON. It is readable in /proc, so it holds nothing secret. */
export interface AgentStart {
  /** The agent ends the instance when nobody renewed the lease for so long. */
  readonly leaseSeconds: number
  /** Started at once, beside the agent's own start; without it Chromium waits for POST /browser. */
  readonly browser?: BrowserStart
  /** Loopback addresses in pages mean the host's, for development; otherwise the instance's own. */
  readonly hostLoopback?: boolean
}

export const AgentState = Type.Object(
  {
    /** Grows with every change. */
    number: Type.Integer({ minimum: 0 }),
    /** starting: not answering yet. ready: settled, with a page. restarting: it ended by itself. */
    browser: OneOf(['none', 'starting', 'ready', 'restarting', 'failed'] as const, {
      description: 'Chromium',
    }),
    /** Path of its browser-wide websocket, such as /devtools/browser/<uuid>. */
    devtools_path: Nullable(Type.String({ maxLength: 200, pattern: '^/devtools/browser/[A-Za-z0-9-]+$' })),
    browser_version: Nullable(Type.String({ maxLength: 100 })),
    /** How often Chromium was started again after it ended by itself. */
    restarts: Type.Integer({ minimum: 0 }),
    /** Why it failed, for people. */
    failure: Nullable(Type.String({ maxLength: 4000 })),
    /** How many programs run that were spawned: with any, the session is in use. */
    processes: Type.Integer({ minimum: 0 }),
    /** How many watch its screen, through whichever server; agents of before know nothing of it. */
    viewers: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  { title: 'AgentState' },
)
export type AgentState = Static<typeof AgentState>

export const Shape = Strict({
  width: Type.Optional(size(7680, 320)),
  height: Type.Optional(size(4320, 240)),
  kiosk: Type.Optional(Type.Boolean()),
  /** Dispatched and not waited for. */
  start_url: Type.Optional(Type.String({ maxLength: 65_536 })),
})
export type Shape = Static<typeof Shape>

/**
 * The agent's own operations, over connections of purpose `api`. All bodies are JSON.
 *
 *   GET  /state            200 AgentState
 *   GET  /state?after=N    200 AgentState once its number is not N, or after 25 s
 *   PUT  /lease            200 AgentState, { seconds }
 *   POST /browser          200 AgentState when Chromium is settled, 500 { message } when it cannot start
 *   POST /client           200 AgentState when Chromium takes clients in, or as it is after 15 s
 *   POST /shape            204, Shape
 *   PUT  /policy           204, the policies of Chromium by name; those that are read at its start, from its next
 *   PUT  /telemetry        204, TelemetryOrder, when what can be captured is
 *   …    /profile          see profile-archive.ts
 *   …    /login/…          see login-sight.ts
 *   GET  /telemetry?after=N  200, a line of JSON for every event whose number is greater: { n, event }
 */
export const LeaseRenewal = Strict({ seconds: Type.Integer({ minimum: 1, maximum: 3600 }) })

/**
 * What to capture. Several servers may change it at once: the greater version counts. Numbers of events grow by one;
 * where they grow by more, events were dropped.
 */
export interface TelemetryOrder {
  readonly categories: readonly Category[]
  readonly version: number
}
/** Of a line of events, in bytes; pictures are the largest. */
export const MAX_EVENT_LENGTH = 1_250_000

/**
 * The output of a process travels as frames, see codecs/frames.ts. Each is of one of these kinds; an event is
 * the JSON of a ProcessOutputEvent that is no data.
 */
export const outputFrames = { stdout: 1, stderr: 2, event: 3 } as const
export const OUTPUT_FRAMES_TYPE = 'application/vnd.berth.output'
/** As much as Node reads from a pipe at once. */
export const MAX_OUTPUT_FRAME_BYTES = 64 * 1024

/** With every answer to a control, how many programs run that were spawned; absent: none. */
export const PROCESSES_HEADER = 'berth-processes'
