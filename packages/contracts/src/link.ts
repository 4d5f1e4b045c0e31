// The protocol between the server and the agent inside an instance. The agent inherits a listening socket, which no
// path inside the instance leads to, and servers connect to it from outside. On each connection the server first writes
// one line that names the purpose. Everything after that line belongs to the purpose.
import { Type, type Static } from 'typebox'
import { Nullable, OneOf, Strict } from './schema.ts'
import type { Category } from './telemetry-events.ts'

/**
 * api: HTTP/1.1 requests to the agent. cdp: the bytes of Chromium's debugging port. bidi: a WebDriver
 * BiDi websocket, starting with its HTTP upgrade. playwright: a websocket of Playwright's own protocol, likewise; the path
 * is the version of the client, such as /1.65, or / if it is not known. screen: the remote framebuffer protocol, starting
 * with the version message of the VNC server.
 */
export const linkPurposes = ['api', 'cdp', 'bidi', 'playwright', 'screen'] as const
export type LinkPurpose = (typeof linkPurposes)[number]

/**
 * What only the link of a Pod says, each on a connection of its own and with the same number: `take 7` gets the descriptor
 * of a connection to Chromium's debugging port, and `give 7` asks for it. The answer to the latter is a line, `given` when
 * the descriptor is there. Node cannot wait for a descriptor, so the answer needs a connection of its own.
 */
export const handOver = { take: 'take', give: 'give', given: 'given', cannot: 'cannot' } as const

/**
 * A small picture of what the session shows: `GET /preview?width=320`. The answer is a JPEG with an `etag`, 204 if
 * `if-none-match` names the same picture, 403 if a login has used a secret in the session, and 409 if there is nothing to
 * see.
 */
export const PREVIEW_PATH = '/preview'

/** In an answer of 428 to a client of Playwright: the versions that the instance has, such as `1.65 1.64`. */
export const PLAYWRIGHT_VERSIONS_HEADER = 'playwright-versions'

/** Paths inside an instance. */
export const instancePaths = {
  /** In a directory bound read-only from the server's. Servers create and remove the sockets in it. */
  egress: '/run/berth/egress.sock',
  node: '/run/berth-agent/node',
  agent: '/run/berth-agent/agent.mjs',
  /** Other versions are beside it, such as playwright-1.64.cjs. */
  playwrightRunner: '/run/berth-agent/playwright.cjs',
  esbuild: '/run/berth-agent/esbuild',
  nativeCalls: '/run/berth-agent/koffi.node',
  home: '/home/kernel',
  profile: '/home/kernel/user-data',
  /** Where the distribution's Chromium reads policies. */
  policies: '/etc/chromium/policies',
  extensions: '/home/kernel/extensions',
  /** HOME of an app's invocations, where they have a uid of their own. */
  appHome: '/tmp/app-home',
} as const

/**
 * Ports on the instance's own loopback; pages reach none of them. Of an instance with a network, `arrivals` is where its
 * connections come out at the server, and `names` is the agent's name server.
 */
export const instancePorts = { devtools: 9222, proxy: 3128, arrivals: 3129, names: 53 } as const

/** The host under which an agent asks egress about names and connections; see egress/asks.ts of the server. */
export const EGRESS_ASK_HOST = 'egress.berth.internal'

/**
 * Of an instance with a network. The kernel shows the agent the first packet of each connection in this queue, and the
 * agent answers with one of these marks.
 */
export const connectionQueue = { number: 0, refuse: 2, unreachable: 3 } as const

/** What becomes of a connection that begins. `ignore` leaves it to the sender's own patience. */
export type ConnectionFate = 'accept' | 'refuse' | 'unreachable' | 'ignore'

/** Host name under which an app reaches Berth's API through the proxy. Only instances that run apps may use it. */
export const API_HOST = 'api.berth.internal'
/** Loopback port on which the agent of such an instance accepts these connections. */
export const API_PORT = 8080

/** Exit codes of the agent, and therefore of its instance. */
export const agentExitCodes = { leaseLapsed: 3 } as const

/**
 * Relayed requests and responses keep their headers apart from those between server and agent: each relayed header has
 * this prefix, and the relayed status has its own header.
 */
export const relay = { header: 'relay-header-', status: 'relay-status' } as const

/** The socket that the agent inherits. */
export const LINK_DESCRIPTOR = 4
/**
 * A socket that the agent inherits, if it has a network. It writes a byte when it runs, and receives the descriptor of the
 * queue of connections when the network is made.
 */
export const NETWORK_DESCRIPTOR = 7

const size = (maximum: number, minimum: number) => Type.Integer({ minimum, maximum })

export const BrowserStart = Strict(
  {
    headless: Type.Boolean(),
    width: size(7680, 320),
    height: size(4320, 240),
    kiosk: Type.Boolean(),
    /** Such as de-DE. Defaults to en-US. */
    locale: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9-]{2,35}$' })),
    /** Such as Europe/Berlin. Defaults to UTC. */
    timezone: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_+/-]{1,64}$' })),
    /** As in the browser of a person. Otherwise a page may open windows without a click, as under every driver. */
    blocksPopups: Type.Optional(Type.Boolean()),
    /** Renders on the GPU that the instance has. Otherwise a program does it. */
    gpu: Type.Optional(Type.Boolean()),
  },
  { title: 'BrowserStart' },
)
export type BrowserStart = Static<typeof BrowserStart>

/** Each is also a gid. */
export interface InstanceUids {
  /** Chromium, and all that the tenant runs. */
  readonly user: number
  /** Invocations of an app. They read its files and cannot change them. */
  readonly app: number
}

/** The agent's only argument, as JSON. It is readable in /proc, so it must not contain secrets. */
export interface AgentStart {
  /** The agent ends the instance when no server renews the lease within this time. */
  readonly leaseSeconds: number
  /** Starts Chromium together with the agent. When omitted, Chromium waits for POST /browser. */
  readonly browser?: BrowserStart
  /** When the agent is root of the instance's user namespace. When omitted, all inside have the same uid. */
  readonly uids?: InstanceUids
  /** Programs can connect to any address, and egress decides. When omitted, there is only the proxy. */
  readonly hasNetwork?: boolean
  /** Development only: loopback addresses in pages mean the host instead of the instance. */
  readonly hostLoopback?: boolean
}

export const AgentState = Type.Object(
  {
    /** Grows with every change. */
    number: Type.Integer({ minimum: 0 }),
    /** starting: does not respond yet. ready: has a page and is idle. restarting: exited unexpectedly. */
    browser: OneOf(['none', 'starting', 'ready', 'restarting', 'failed'] as const, {
      description: 'Chromium',
    }),
    /** Path of the browser-wide websocket, such as /devtools/browser/<uuid>. */
    devtools_path: Nullable(Type.String({ maxLength: 200, pattern: '^/devtools/browser/[A-Za-z0-9-]+$' })),
    browser_version: Nullable(Type.String({ maxLength: 100 })),
    /** How often Chromium was restarted after it exited unexpectedly. */
    restarts: Type.Integer({ minimum: 0 }),
    /** Human-readable reason of a failure. */
    failure: Nullable(Type.String({ maxLength: 4000 })),
    /** Number of running spawned programs. While any runs, the session is in use. */
    processes: Type.Integer({ minimum: 0 }),
    /** Number of live view clients across all servers. Older agents do not send it. */
    viewers: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  { title: 'AgentState' },
)
export type AgentState = Static<typeof AgentState>

export const Shape = Strict({
  width: Type.Optional(size(7680, 320)),
  height: Type.Optional(size(4320, 240)),
  kiosk: Type.Optional(Type.Boolean()),
  /** The agent opens it without waiting until it loads. */
  start_url: Type.Optional(Type.String({ maxLength: 65_536 })),
})
export type Shape = Static<typeof Shape>

/**
 * The agent's own operations, over connections of purpose `api`. All bodies are JSON.
 *
 *   GET  /state            200 AgentState
 *   GET  /state?after=N    200 AgentState once its number is not N, or after 25 s
 *   PUT  /lease            200 AgentState, { seconds }
 *   POST /browser          200 AgentState when Chromium is ready, 500 { message } when it cannot start
 *   POST /client           200 AgentState when Chromium accepts clients, or its current state after 15 s
 *   POST /shape            204, Shape
 *   PUT  /policy           204, Chromium's policies by name; some take effect only at Chromium's next start
 *   PUT  /telemetry        204, TelemetryOrder; responds when capturing has started
 *   …    /profile          see profile-archive.ts
 *   …    /login/…          see page-snapshot.ts
 *   GET  /telemetry?after=N  200, one JSON line { n, event } for each event with a number above N
 */
export const LeaseRenewal = Strict({ seconds: Type.Integer({ minimum: 1, maximum: 3600 }) })

/**
 * What to capture. Several servers may change it at once; the highest version wins. Event numbers grow by one. A gap
 * means that events were dropped.
 */
export const TelemetryOrder = Strict({
  /** Categories that an agent does not know are not captured. */
  categories: Type.Unsafe<readonly Category[]>({ type: 'array', items: { type: 'string' } }),
  version: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
})
export type TelemetryOrder = Static<typeof TelemetryOrder>

/** Size of one event line in bytes. Screenshots are the largest events. */
export const MAX_EVENT_LENGTH = 1_250_000

/**
 * Process output is sent as frames, see codecs/frames. These are the frame kinds. An `event` frame contains a
 * ProcessOutputEvent without data, as JSON.
 */
export const outputFrames = { stdout: 1, stderr: 2, event: 3 } as const
export const OUTPUT_FRAMES_TYPE = 'application/vnd.berth.output'
/** Node reads this much from a pipe at once. */
export const MAX_OUTPUT_FRAME_BYTES = 64 * 1024

/** Every control response has the number of running spawned programs in this header. Absent when there are none. */
export const PROCESSES_HEADER = 'berth-processes'
