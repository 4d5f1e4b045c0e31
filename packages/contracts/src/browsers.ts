import { Type, type Static } from 'typebox'
import { ChromePolicy, MAX_POLICY_BYTES } from './chrome-policy.ts'
import { MAX_EXTENSIONS } from './extension-limits.ts'
import { ExtensionReference } from './extensions.ts'
import { Memory, Network, NetworkRequest, Region, RegionFilter, ShownMemory, ShownRegion } from './network.ts'
import { operation } from './operation.ts'
import { Profile, ProfileRequest, ProfileSave } from './profiles.ts'
import { NextProxyId, ProxyId, ProxySelection, ProxySelectionRequest } from './proxies.ts'
import { RecordRequest } from './replays.ts'
import { idOrName, Nullable, OneOf, Open, pageQuery, Text, Timestamp } from './schema.ts'
import { TelemetryConfig, TelemetryRequest } from './telemetry.ts'

const tag = 'Browsers'

const NAME = '^[a-zA-Z0-9._-]{1,255}$'
export const BrowserName = Type.String({
  pattern: NAME,
  description:
    'Name, unique among the active sessions of the project: letters, digits, dot, dash, underscore',
})

const MAX_TAGS = 50
export const Tags = Type.Record(
  Type.String({ maxLength: 255 }),
  Text({ description: 'Value of the tag', maxLength: 255 }),
  {
    maxProperties: MAX_TAGS,
    description: 'Your own labels, up to 50',
  },
)
export type Tags = Static<typeof Tags>

export const MAX_REFRESH_RATE = 240

const viewportFields = {
  width: Type.Integer({ minimum: 320, maximum: 7680, description: 'Width in pixels' }),
  height: Type.Integer({ minimum: 240, maximum: 4320, description: 'Height in pixels' }),
  refresh_rate: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: `Frames per second of live view and recordings; depends on the size when omitted. More than ${MAX_REFRESH_RATE} counts as ${MAX_REFRESH_RATE}`,
    }),
  ),
}
export const BrowserViewport = Open(viewportFields, { description: 'Size of the browser window' })
export type BrowserViewport = Static<typeof BrowserViewport>

export const MIN_TIMEOUT_SECONDS = 10
export const MAX_TIMEOUT_SECONDS = 259_200
export const TimeoutSeconds = Type.Integer({
  minimum: MIN_TIMEOUT_SECONDS,
  maximum: MAX_TIMEOUT_SECONDS,
  description: 'Seconds of inactivity after which the session ends',
})

const START_URL =
  'URL to open; Berth does not wait until it loads. Any text is accepted: what cannot be opened is dropped, such as a ' +
  "text that is no URL, one of Chromium's internal pages or a file"

const StandbyAfterSeconds = Type.Integer({
  minimum: 1,
  maximum: MAX_TIMEOUT_SECONDS,
  description:
    'Extension: seconds of inactivity after which the session goes on standby, even while clients are connected. When omitted, only sessions without clients go on standby, after 5 seconds',
})

const Locale = Type.String({
  pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$',
  examples: ['de-DE'],
  description: 'Extension: language of the browser, which websites can see; en-US when omitted',
})

const Timezone = Type.String({
  maxLength: 64,
  pattern: '^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+){0,2}$',
  examples: ['Europe/Berlin'],
  description: 'Extension: time zone of the browser; UTC when omitted',
})

export const endReasons = [
  'deleted',
  'timed_out',
  'crashed',
  'out_of_memory',
  'start_failed',
  'server_stopped',
  'lost',
  'released',
] as const
export type EndReason = (typeof endReasons)[number]

/** Whether a session on standby has given its memory back. */
export const standbyDepths = ['light', 'deep'] as const
/** What a session does now. Sessions that are still starting are in no answer. */
export const shownStates = ['ready', 'standby', 'ended'] as const
export type ShownState = (typeof shownStates)[number]

export const Browser = Type.Object(
  {
    session_id: Type.String({ description: 'Unique session id' }),
    created_at: Timestamp('When the session was created'),
    cdp_ws_url: Type.String({
      description:
        'WebSocket URL for the Chrome DevTools Protocol; contains its own token. Empty for a key without the scope `browsers:write`',
    }),
    webdriver_ws_url: Type.String({
      description:
        'WebSocket URL for WebDriver BiDi; contains its own token. Empty for a key without the scope `browsers:write`',
    }),
    playwright_ws_url: Type.Optional(
      Type.String({
        description:
          'Extension: WebSocket URL for `chromium.connect()` of Playwright, which also carries files between the session and your disk; contains its own token. Absent for a key without the scope `browsers:write`',
      }),
    ),
    browser_live_view_url: Type.Optional(
      Type.String({
        description:
          'Web page that shows the screen and accepts mouse and keyboard input; contains its own token. Headful sessions only. Add `readOnly=true` to only watch',
      }),
    ),
    base_url: Type.Optional(Type.String({ description: 'Base URL of the control API of this session' })),
    headless: Type.Boolean({ description: 'Whether the browser runs without a display' }),
    stealth: Type.Boolean({ description: 'Whether signs of automation are hidden from pages' }),
    gpu: Type.Optional(
      Type.Boolean({ description: 'Whether the session uses a GPU; headful sessions only' }),
    ),
    timeout_seconds: TimeoutSeconds,
    standby_after_seconds: Type.Optional(StandbyAfterSeconds),
    name: Type.Optional(Type.String({ description: 'Name of the session, if set' })),
    tags: Type.Optional(Type.Record(Type.String(), Type.String(), { description: 'Labels, if any' })),
    viewport: Type.Optional(
      Type.Object(viewportFields, { title: 'BrowserViewport', description: 'Size of the browser window' }),
    ),
    kiosk_mode: Type.Optional(Type.Boolean({ description: 'Whether the page is shown full screen' })),
    locale: Type.Optional(Locale),
    timezone: Type.Optional(Timezone),
    chrome_policy: Type.Optional({
      ...ChromePolicy,
      description: 'Enterprise policies, as requested; lists omit policies above 64 KiB',
    }),
    start_url: Type.Optional(
      Type.String({
        description:
          'URL that was requested at creation or by the last update, not the page that is open now. Cut to 65,536 characters',
      }),
    ),
    region: ShownRegion,
    memory: ShownMemory,
    network: Type.Optional(Network),
    proxy: Type.Optional(ProxySelection),
    proxy_id: Type.Optional(Type.String({ description: 'Deprecated: id of the proxy, if any' })),
    state: Type.Optional(
      OneOf(shownStates, {
        description:
          'Extension: `ready`: it runs. `standby`: its processes are frozen until somebody uses it. `ended`: `end_reason` says why',
      }),
    ),
    standby: Type.Optional(
      OneOf(standbyDepths, {
        description:
          'Extension: only while `state` is `standby`. `light`: it keeps its memory. `deep`: its memory was moved to swap, and comes back when somebody uses it',
      }),
    ),
    deleted_at: Type.Optional(Timestamp('When the session ended; absent while it is active')),
    end_reason: Type.Optional(
      OneOf(endReasons, { description: 'Why the session ended; absent while it is active' }),
    ),
    usage: Type.Optional(
      Type.Object(
        {
          uptime_ms: Type.Integer({
            description: 'Milliseconds that the session ran, without time on standby',
          }),
          resident_bytes: Type.Optional(
            Type.Integer({
              description:
                'Extension: bytes of memory that it takes on its host, as seen in the last seconds; memory in swap is not among them',
            }),
          ),
          last_wake_ms: Type.Optional(
            Type.Integer({
              description:
                'Extension: how long its last wake took, from the request until it ran, and after deep standby until it answered',
            }),
          ),
        },
        { description: 'Resource usage' },
      ),
    ),
    telemetry: Type.Optional(TelemetryConfig),
    profile: Type.Optional(Profile),
    profile_save_changes: Type.Optional(
      Type.Boolean({ description: 'Whether the profile is saved when the session ends' }),
    ),
    profile_save: Type.Optional(ProfileSave),
    pool: Type.Optional(
      Type.Object(
        {
          id: Type.String({ description: 'Id of the pool' }),
          name: Type.Optional(Type.String({ description: 'Name of the pool, if set' })),
        },
        { title: 'BrowserPoolRef', description: 'Pool that the session was leased from' },
      ),
    ),
    lease_id: Type.Optional(
      Type.String({
        description:
          'Extension: names this lease of a pooled browser. Send it to release or end this lease and no later one',
      }),
    ),
  },
  { title: 'Browser' },
)
export type Browser = Static<typeof Browser>

export const CreateBrowserRequest = Open({
  name: Type.Optional(BrowserName),
  tags: Type.Optional(Tags),
  headless: Type.Optional(
    Type.Boolean({ default: false, description: 'Run without a display; uses less memory' }),
  ),
  stealth: Type.Optional(
    Type.Boolean({ default: false, description: 'Hide signs of automation from pages' }),
  ),
  locale: Type.Optional(Locale),
  timezone: Type.Optional(Timezone),
  gpu: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Render on a GPU of the host; headful sessions only, which then have no standby',
    }),
  ),
  kiosk_mode: Type.Optional(
    Type.Boolean({ default: false, description: 'Show the page full screen, without browser controls' }),
  ),
  timeout_seconds: Type.Optional({ ...TimeoutSeconds, default: 60 }),
  standby_after_seconds: Type.Optional(StandbyAfterSeconds),
  viewport: Type.Optional(BrowserViewport),
  start_url: Type.Optional(Type.String({ description: START_URL })),
  record: Type.Optional(RecordRequest),
  telemetry: Type.Optional(Nullable(TelemetryRequest)),
  profile: Type.Optional(ProfileRequest),
  extensions: Type.Optional(
    Type.Array(ExtensionReference, { maxItems: MAX_EXTENSIONS, description: 'Extensions to load' }),
  ),
  proxy: Type.Optional(ProxySelectionRequest),
  proxy_id: Type.Optional(ProxyId),
  network: Type.Optional(NetworkRequest),
  region: Type.Optional(Region),
  memory: Type.Optional(Memory),
  chrome_policy: Type.Optional(ChromePolicy),
  invocation_id: Type.Optional(
    Text({ description: 'Invocation that the session belongs to; the session ends with it', maxLength: 255 }),
  ),
  persistence: Type.Optional(
    Type.Object({}, { description: 'Deprecated and ignored; accepted for old clients' }),
  ),
})
export type CreateBrowserRequest = Static<typeof CreateBrowserRequest>

export const UpdateBrowserRequest = Open({
  name: Type.Optional(
    Nullable(
      Type.String({
        pattern: `${NAME}|^$`,
        description: 'New name; an empty string removes the name; omit or null to keep it',
      }),
    ),
  ),
  tags: Type.Optional(
    Nullable({
      ...Tags,
      description:
        'Your own labels, up to 50, which replace all others; an empty object removes them; omit or null to keep them',
    }),
  ),
  start_url: Type.Optional(
    Type.String({ description: `${START_URL}. An empty text removes the one that is shown` }),
  ),
  timeout_seconds: Type.Optional(TimeoutSeconds),
  viewport: Type.Optional(
    Open({
      ...viewportFields,
      force: Type.Optional(
        Type.Boolean({
          default: false,
          description: 'Resize even while a live view is open or a recording runs',
        }),
      ),
    }),
  ),
  telemetry: Type.Optional(Nullable(TelemetryRequest)),
  profile: Type.Optional(ProfileRequest),
  proxy: Type.Optional(ProxySelectionRequest),
  proxy_id: Type.Optional(NextProxyId),
  disable_default_proxy: Type.Optional(
    Type.Boolean({
      description:
        'Whether a stealth session without its own proxy connects directly instead of through the default proxy. Cannot be combined with `proxy_id`',
    }),
  ),
})
export type UpdateBrowserRequest = Static<typeof UpdateBrowserRequest>

const params = Type.Object({ id: idOrName('browser session') })
export const browserStatuses = ['active', 'deleted', 'all'] as const

export const LeaseId = Text({
  description:
    'Extension: `lease_id` of the lease that is meant. A lease that is already over stays over, whoever has the browser now. When omitted, it is the last lease that the key of this request got',
  minLength: 1,
  maxLength: 255,
})

export const createBrowser = operation({
  id: 'createBrowser',
  referenceIds: ['postBrowsers'],
  tag,
  summary: 'Create a browser session',
  method: 'POST',
  path: '/browsers',
  body: CreateBrowserRequest,
  bodyOptional: true,
  maxBodyBytes: MAX_POLICY_BYTES + 1024 * 1024,
  effect: 'act',
  status: 200,
  response: Browser,
  errors: ['bad_request', 'already_exists', 'too_many_sessions', 'capacity_exhausted'],
})

export const listBrowsers = operation({
  id: 'listBrowsers',
  referenceIds: ['getBrowsers'],
  tag,
  summary: 'List browser sessions, newest first',
  method: 'GET',
  path: '/browsers',
  query: Type.Object({
    ...pageQuery,
    status: Type.Optional(
      OneOf(browserStatuses, { description: 'Which sessions to list', default: 'active' }),
    ),
    include_deleted: Type.Optional(Type.Boolean({ description: 'Same as `status=all`', default: false })),
    query: Type.Optional(
      Text({
        description:
          'Text to find in the session name, session id, profile id, profile name or pool name, or the full id of a pool',
        maxLength: 255,
      }),
    ),
    region: Type.Optional(RegionFilter),
    tags: Type.Optional(Tags),
  }),
  status: 200,
  response: Type.Array(Browser),
  paging: 'offset',
  errors: ['bad_request'],
})

export const getBrowser = operation({
  id: 'getBrowser',
  referenceIds: ['getBrowsersByIdOrName'],
  tag,
  summary: 'Get a browser session by id or name',
  method: 'GET',
  path: '/browsers/{id}',
  params,
  query: Type.Object({
    include_deleted: Type.Optional(Type.Boolean({ description: 'Include ended sessions', default: false })),
  }),
  status: 200,
  response: Browser,
  errors: ['bad_request', 'not_found'],
})

export const updateBrowser = operation({
  id: 'updateBrowser',
  referenceIds: ['patchBrowsersByIdOrName'],
  tag,
  summary: 'Update a browser session',
  method: 'PATCH',
  path: '/browsers/{id}',
  params,
  body: UpdateBrowserRequest,
  bodyOptional: true,
  effect: 'act',
  status: 200,
  response: Browser,
  errors: ['bad_request', 'not_found', 'already_exists', 'conflict'],
})

export const deleteBrowser = operation({
  id: 'deleteBrowser',
  referenceIds: ['deleteBrowsersByIdOrName'],
  tag,
  summary: 'End a browser session',
  method: 'DELETE',
  path: '/browsers/{id}',
  kind: 'empty',
  params,
  query: Type.Object({
    lease_id: Type.Optional(LeaseId),
    revoke_replay_links: Type.Optional(
      Type.Boolean({
        description:
          'Extension: every `replay_view_url` of the session that exists stops working; false by default',
      }),
    ),
  }),
  effect: 'act',
  status: 204,
  errors: ['bad_request', 'not_found', 'conflict'],
})

export const deletePersistentBrowser = operation({
  id: 'deletePersistentBrowser',
  tag,
  summary: 'Delete a persistent session (for old clients)',
  description: 'Does nothing: Berth has no persistent sessions.',
  method: 'DELETE',
  path: '/browsers',
  kind: 'empty',
  query: Type.Object({
    persistent_id: Text({ description: 'Id from an old client; ignored', maxLength: 255 }),
  }),
  status: 204,
  errors: ['bad_request'],
})
