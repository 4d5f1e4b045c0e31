// Pools of identical browsers that are ready to be leased.
import { Type, type Static } from 'typebox'
import { Browser, BrowserName, BrowserViewport, LeaseId, Tags, TimeoutSeconds } from './browsers.ts'
import { Network, NetworkRequest, Region, RegionFilter, ShownRegion } from './network.ts'
import { operation } from './operation.ts'
import { idOrName, Nullable, Open, pageQuery, resourceId, Text, Timestamp } from './schema.ts'
import { TelemetryConfig, TelemetryRequest } from './telemetry.ts'

const tag = 'Browser pools'

export const DEFAULT_POOL_TIMEOUT_SECONDS = 600
/** Percent of the pool size per minute. */
export const DEFAULT_FILL_RATE = 25

const PoolName = Type.String({
  pattern: '^[a-zA-Z0-9._-]{1,255}$',
  description: 'Unique among the pools of the project: letters, digits, dot, dash, underscore',
})

const byIdOrName = {
  id: Type.Optional(Type.String({ maxLength: 255, description: 'Id' })),
  name: Type.Optional(Type.String({ maxLength: 255, description: 'Name, instead of the id' })),
}

const PoolProfile = Open(
  {
    ...byIdOrName,
    save_changes: Type.Optional(Type.Boolean({ description: 'Ignored: pools never save a profile' })),
  },
  { description: 'Profile that each browser starts with, by id or name' },
)

const size = Type.Integer({
  minimum: 1,
  maximum: 1_000_000,
  description: 'Number of browsers in the pool, both available and leased',
})
const fillRate = Type.Integer({
  minimum: 0,
  maximum: 1_000_000,
  description:
    'How fast the pool fills, in percent of its size per minute, but at least one browser per minute. 0 stops filling. ' +
    'Replacing a browser that was leased does not count towards the rate',
})

/** Settings of a pool and its browsers, for creation and updates. */
const fields = {
  name: Type.Optional(PoolName),
  fill_rate_per_minute: Type.Optional({ ...fillRate, default: DEFAULT_FILL_RATE }),
  timeout_seconds: Type.Optional({ ...TimeoutSeconds, default: DEFAULT_POOL_TIMEOUT_SECONDS }),
  headless: Type.Optional(
    Type.Boolean({ default: false, description: 'Run without a display; uses less memory' }),
  ),
  stealth: Type.Optional(
    Type.Boolean({ default: false, description: 'Hide signs of automation from pages' }),
  ),
  kiosk_mode: Type.Optional(
    Type.Boolean({ default: false, description: 'Show the page full screen, without browser controls' }),
  ),
  viewport: Type.Optional(BrowserViewport),
  start_url: Type.Optional(
    Text({ description: 'URL that new browsers open; Berth does not wait until it loads', maxLength: 2048 }),
  ),
  profile: Type.Optional(PoolProfile),
  refresh_on_profile_update: Type.Optional(
    Type.Boolean({
      description:
        'Replace available browsers when the profile is saved. True by default if the pool has a profile',
    }),
  ),
  extensions: Type.Optional(
    Type.Array(Open(byIdOrName), { maxItems: 20, description: 'Extensions to load, by id or name' }),
  ),
  proxy_id: Type.Optional(Type.String({ maxLength: 255, description: 'Id of the proxy to use' })),
  network: Type.Optional(NetworkRequest),
  chrome_policy: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'Chrome enterprise policies by name',
    }),
  ),
  reset_on_release: Type.Optional(
    Type.Boolean({
      description:
        'Extension: every release works as with `reset: true`, so no lease sees anything of the one before. False by default',
    }),
  ),
  telemetry: Type.Optional(Nullable(TelemetryRequest)),
}

export const CreateBrowserPoolRequest = Open({ size, ...fields, region: Type.Optional(Region) })
export type CreateBrowserPoolRequest = Static<typeof CreateBrowserPoolRequest>

export const UpdateBrowserPoolRequest = Open({
  ...fields,
  size: Type.Optional(size),
  name: Type.Optional(
    Type.String({
      pattern: '^[a-zA-Z0-9._-]{1,255}$|^$',
      description: 'New name; an empty string changes nothing',
    }),
  ),
  fill_rate_per_minute: Type.Optional(fillRate),
  timeout_seconds: Type.Optional(TimeoutSeconds),
  headless: Type.Optional(Type.Boolean({ description: 'Run without a display; uses less memory' })),
  stealth: Type.Optional(Type.Boolean({ description: 'Hide signs of automation from pages' })),
  kiosk_mode: Type.Optional(
    Type.Boolean({ description: 'Show the page full screen, without browser controls' }),
  ),
  start_url: Type.Optional(
    Text({ description: 'New start URL; an empty string removes it', maxLength: 2048 }),
  ),
  discard_all_idle: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Replace all available browsers at once. Otherwise only new browsers get the new settings',
    }),
  ),
})
export type UpdateBrowserPoolRequest = Static<typeof UpdateBrowserPoolRequest>

const Reference = Type.Object({
  id: Type.Optional(Type.String({ description: 'Id, if the request used it' })),
  name: Type.Optional(Type.String({ description: 'Name, if the request used it' })),
})

const BrowserPoolConfig = Type.Object(
  {
    size,
    name: Type.Optional(Type.String({ description: 'Name of the pool, if set' })),
    fill_rate_per_minute: Type.Optional(fillRate),
    timeout_seconds: Type.Optional(TimeoutSeconds),
    headless: Type.Optional(Type.Boolean({ description: 'Whether the browsers run without a display' })),
    stealth: Type.Optional(Type.Boolean({ description: 'Hide signs of automation from pages' })),
    kiosk_mode: Type.Optional(Type.Boolean({ description: 'Whether the page is shown full screen' })),
    viewport: Type.Optional(
      Type.Object(BrowserViewport.properties, {
        title: 'BrowserViewport',
        description: 'Size of the browser window',
      }),
    ),
    start_url: Type.Optional(Type.String({ description: 'URL that new browsers open' })),
    profile: Type.Optional(Reference),
    refresh_on_profile_update: Type.Optional(
      Type.Boolean({ description: 'Whether available browsers are replaced when the profile is saved' }),
    ),
    extensions: Type.Optional(Type.Array(Reference, { description: 'Extensions, as given in the request' })),
    proxy_id: Type.Optional(Type.String({ description: 'Id of the proxy, if set' })),
    network: Type.Optional(Network),
    chrome_policy: fields.chrome_policy,
    reset_on_release: Type.Optional(
      Type.Boolean({
        description: 'Extension: whether every release works as with `reset: true`; absent when it does not',
      }),
    ),
    telemetry: Type.Optional(TelemetryConfig),
  },
  { title: 'BrowserPoolConfig', description: 'Settings for new browsers of the pool' },
)

export const BrowserPool = Type.Object(
  {
    id: Type.String({ description: 'Unique id of the pool' }),
    name: Type.Optional(Type.String({ description: 'Name of the pool, if set' })),
    available_count: Type.Integer({
      minimum: 0,
      description: 'Number of browsers that are ready to be leased',
    }),
    acquired_count: Type.Integer({ minimum: 0, description: 'Number of leased browsers' }),
    created_at: Timestamp('When the pool was created'),
    region: ShownRegion,
    browser_pool_config: BrowserPoolConfig,
    extension_ids: Type.Array(Type.String(), {
      description: 'Ids of the extensions, in load order',
    }),
    profile_id: Type.Optional(Type.String({ description: 'Id of the profile, if set' })),
  },
  { title: 'BrowserPool' },
)
export type BrowserPool = Static<typeof BrowserPool>
export type BrowserPoolConfig = BrowserPool['browser_pool_config']

export const AcquireBrowserRequest = Open({
  acquire_timeout_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 259_200,
      description:
        'Maximum time to wait for a browser. The default is the time it takes to fill the pool, up to BERTH_ACQUIRE_WAIT_SECONDS, so that clients with a 60-second timeout get a response',
    }),
  ),
  name: Type.Optional(BrowserName),
  tags: Type.Optional(Tags),
  start_url: Type.Optional(
    Text({ description: 'URL to open; Berth does not wait until it loads', maxLength: 2048 }),
  ),
  telemetry: Type.Optional(Nullable(TelemetryRequest)),
})
export type AcquireBrowserRequest = Static<typeof AcquireBrowserRequest>

export const ReleaseBrowserRequest = Open({
  session_id: resourceId('browser session'),
  lease_id: Type.Optional(LeaseId),
  reuse: Type.Optional(
    Type.Boolean({
      default: true,
      description:
        'True: the next lease gets this browser as it is, with its tabs, cookies and logins. False: the browser ends and a new one replaces it. Ignored by a pool with `reset_on_release`',
    }),
  ),
  reset: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Extension: the browser ends, and an unused warm browser replaces it before the response. Always so in a pool with `reset_on_release`',
    }),
  ),
})
export type ReleaseBrowserRequest = Static<typeof ReleaseBrowserRequest>

const params = Type.Object({ id: idOrName('browser pool') })

export const createBrowserPool = operation({
  id: 'createBrowserPool',
  referenceIds: ['postBrowserPools'],
  tag,
  summary: 'Create a pool of browsers',
  description:
    'The pool then fills in the background, as fast as `fill_rate_per_minute` allows. Its full size counts at once ' +
    'towards the limits of concurrent sessions and pooled sessions.',
  method: 'POST',
  path: '/browser_pools',
  body: CreateBrowserPoolRequest,
  status: 201,
  response: BrowserPool,
  errors: ['already_exists', 'too_many_sessions'],
})

export const listBrowserPools = operation({
  id: 'listBrowserPools',
  referenceIds: ['getBrowserPools'],
  tag,
  summary: 'List browser pools, newest first',
  method: 'GET',
  path: '/browser_pools',
  query: Type.Object({
    ...pageQuery,
    query: Type.Optional(Text({ description: 'Text to find in the name, or the full id', maxLength: 255 })),
    name: Type.Optional(Text({ description: 'Exactly this name', maxLength: 255 })),
    region: Type.Optional(RegionFilter),
  }),
  status: 200,
  response: Type.Array(BrowserPool),
  paging: 'offset',
  errors: ['bad_request'],
})

export const getBrowserPool = operation({
  id: 'getBrowserPool',
  referenceIds: ['getBrowserPoolsByIdOrName'],
  tag,
  summary: 'Get a browser pool by id or name',
  method: 'GET',
  path: '/browser_pools/{id}',
  params,
  status: 200,
  response: BrowserPool,
  errors: ['not_found'],
})

export const updateBrowserPool = operation({
  id: 'updateBrowserPool',
  referenceIds: ['updateBrowserPoolsByIdOrName'],
  tag,
  summary: 'Update a browser pool',
  description:
    'Omitted fields stay unchanged. Existing browsers keep their settings; `discard_all_idle` replaces those that are ' +
    'not leased. To remove a setting, send `profile: {"id": ""}`, `extensions: []`, `proxy_id: ""`, ' +
    '`start_url: ""`, `network: {}` or `chrome_policy: {}`.',
  method: 'PATCH',
  path: '/browser_pools/{id}',
  params,
  body: UpdateBrowserPoolRequest,
  bodyOptional: true,
  status: 200,
  response: BrowserPool,
  errors: ['not_found', 'already_exists', 'too_many_sessions'],
})

export const deleteBrowserPool = operation({
  id: 'deleteBrowserPool',
  referenceIds: ['deleteBrowserPoolsByIdOrName'],
  tag,
  summary: 'Delete a browser pool and its browsers',
  method: 'DELETE',
  path: '/browser_pools/{id}',
  kind: 'empty',
  params,
  body: Open({
    force: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Delete the pool even if browsers are leased; their sessions end',
      }),
    ),
  }),
  bodyOptional: true,
  status: 204,
  errors: ['not_found', 'pool_in_use'],
})

export const acquireBrowser = operation({
  id: 'acquireBrowser',
  referenceIds: ['acquireFromBrowserPoolByIdOrName'],
  tag,
  summary: 'Lease a browser from a pool',
  description:
    'Responds at once if a browser is available, and otherwise as soon as one is. Callers are served in order of ' +
    'arrival. The timeout of the pool starts with the lease. A caller that disconnects before the response gets no lease, ' +
    'unless it sent an Idempotency-Key; then it can repeat the request to get the same lease.',
  method: 'POST',
  path: '/browser_pools/{id}/acquire',
  params,
  body: AcquireBrowserRequest,
  bodyOptional: true,
  effect: 'act',
  waits: true,
  status: 200,
  alsoAnswers: { 204: 'No browser became available in time; repeat the request to keep waiting' },
  response: Browser,
  errors: ['not_found', 'already_exists', 'too_many_requests'],
})

export const releaseBrowser = operation({
  id: 'releaseBrowser',
  referenceIds: ['releaseToBrowserPoolByIdOrName'],
  tag,
  summary: 'Return a leased browser to its pool',
  description:
    'Disconnects all clients and invalidates the URLs of the lease. The name, tags, telemetry settings, viewport and ' +
    'running recordings of the lease end too. Releasing a lease that is already over does nothing, even if somebody else ' +
    'has the browser now. A key that never leased the browser must name the `lease_id` once the browser has been reused.',
  method: 'POST',
  path: '/browser_pools/{id}/release',
  kind: 'empty',
  params,
  body: ReleaseBrowserRequest,
  effect: 'act',
  status: 204,
  errors: ['not_found', 'conflict', 'capacity_exhausted'],
})

export const flushBrowserPool = operation({
  id: 'flushBrowserPool',
  referenceIds: ['flushBrowserPoolByIdOrName'],
  tag,
  summary: 'Replace all available browsers of a pool',
  method: 'POST',
  path: '/browser_pools/{id}/flush',
  kind: 'empty',
  params,
  status: 204,
  errors: ['not_found'],
})
