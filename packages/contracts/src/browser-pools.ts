// Browsers that wait, all made alike, to be leased at once and given back.
import { Type, type Static } from 'typebox'
import { Browser, BrowserName, BrowserViewport, Tags, TimeoutSeconds } from './browsers.ts'
import { operation } from './operation.ts'
import { idOrName, Nullable, pageQuery, resourceId, Strict, Text, Timestamp } from './schema.ts'
import { TelemetryConfig, TelemetryRequest } from './telemetry.ts'

const tag = 'Browser pools'

export const DEFAULT_POOL_TIMEOUT_SECONDS = 600
/** Percent of the size in a minute. */
export const DEFAULT_FILL_RATE = 25

const PoolName = Type.String({
  pattern: '^[a-zA-Z0-9._-]{1,255}$',
  description: 'Unique among the pools of the project: letters, digits, dot, dash, underscore',
})

const byIdOrName = {
  id: Type.Optional(Type.String({ maxLength: 255, description: 'By its id' })),
  name: Type.Optional(Type.String({ maxLength: 255, description: 'Or by its name' })),
}

const PoolProfile = Strict(
  {
    ...byIdOrName,
    save_changes: Type.Optional(Type.Boolean({ description: 'Ignored: pools never change a profile' })),
  },
  { description: 'Profile that its browsers begin with, by id or name' },
)

const size = Type.Integer({
  minimum: 1,
  maximum: 1_000_000,
  description: 'How many browsers it has, waiting and leased together',
})
const fillRate = Type.Integer({
  minimum: 0,
  maximum: 1_000_000,
  description:
    'How much of it may be filled in a minute, in percent of its size, at least one browser; 0: nothing. What ' +
    'takes the place of a browser that was leased is made at once',
})

/** What may be said of a pool and of each of its browsers, at its making and later. */
const fields = {
  name: Type.Optional(PoolName),
  fill_rate_per_minute: Type.Optional({ ...fillRate, default: DEFAULT_FILL_RATE }),
  timeout_seconds: Type.Optional({ ...TimeoutSeconds, default: DEFAULT_POOL_TIMEOUT_SECONDS }),
  headless: Type.Optional(Type.Boolean({ default: false, description: 'No display, and lighter' })),
  stealth: Type.Optional(Type.Boolean({ default: false, description: 'Stealth mode' })),
  kiosk_mode: Type.Optional(Type.Boolean({ default: false, description: 'The page fills the screen' })),
  viewport: Type.Optional(BrowserViewport),
  start_url: Type.Optional(
    Text({ description: 'Opened in new browsers without waiting for it to load', maxLength: 2048 }),
  ),
  profile: Type.Optional(PoolProfile),
  refresh_on_profile_update: Type.Optional(
    Type.Boolean({
      description: 'Make waiting browsers anew when the profile is saved; true by default with a profile',
    }),
  ),
  extensions: Type.Optional(
    Type.Array(Strict(byIdOrName), { maxItems: 20, description: 'Extensions to load, by id or name' }),
  ),
  proxy_id: Type.Optional(Type.String({ maxLength: 255, description: 'Proxy to use' })),
  chrome_policy: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'Enterprise policies',
    }),
  ),
  telemetry: Type.Optional(Nullable(TelemetryRequest)),
}

export const CreateBrowserPoolRequest = Strict({ size, ...fields })
export type CreateBrowserPoolRequest = Static<typeof CreateBrowserPoolRequest>

export const UpdateBrowserPoolRequest = Strict({
  ...fields,
  size: Type.Optional(size),
  name: Type.Optional(
    Type.String({
      pattern: '^[a-zA-Z0-9._-]{1,255}$|^$',
      description: 'A new name; an empty one changes nothing',
    }),
  ),
  fill_rate_per_minute: Type.Optional(fillRate),
  timeout_seconds: Type.Optional(TimeoutSeconds),
  headless: Type.Optional(Type.Boolean({ description: 'No display, and lighter' })),
  stealth: Type.Optional(Type.Boolean({ description: 'Stealth mode' })),
  kiosk_mode: Type.Optional(Type.Boolean({ description: 'The page fills the screen' })),
  start_url: Type.Optional(Text({ description: 'Another; an empty one takes it away', maxLength: 2048 })),
  discard_all_idle: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Make the waiting browsers anew at once; otherwise only later ones are as this says',
    }),
  ),
})
export type UpdateBrowserPoolRequest = Static<typeof UpdateBrowserPoolRequest>

const Reference = Type.Object({
  id: Type.Optional(Type.String({ description: 'As it was given' })),
  name: Type.Optional(Type.String({ description: 'As it was given' })),
})

const BrowserPoolConfig = Type.Object(
  {
    size,
    name: Type.Optional(Type.String({ description: 'Name, if it has one' })),
    fill_rate_per_minute: Type.Optional(fillRate),
    timeout_seconds: Type.Optional(TimeoutSeconds),
    headless: Type.Optional(Type.Boolean({ description: 'Whether its browsers have no display' })),
    stealth: Type.Optional(Type.Boolean({ description: 'Stealth mode' })),
    kiosk_mode: Type.Optional(Type.Boolean({ description: 'Whether the page fills the screen' })),
    viewport: Type.Optional(
      Type.Object(BrowserViewport.properties, {
        title: 'BrowserViewport',
        description: 'Size of the window',
      }),
    ),
    start_url: Type.Optional(Type.String({ description: 'What new browsers open' })),
    profile: Type.Optional(Reference),
    refresh_on_profile_update: Type.Optional(
      Type.Boolean({ description: 'Whether waiting browsers are made anew when the profile is saved' }),
    ),
    extensions: Type.Optional(Type.Array(Reference, { description: 'Extensions, as they were given' })),
    proxy_id: Type.Optional(Type.String({ description: 'Proxy, if it uses one' })),
    chrome_policy: fields.chrome_policy,
    telemetry: Type.Optional(TelemetryConfig),
  },
  { title: 'BrowserPoolConfig', description: 'What its browsers are made of from now on' },
)

export const BrowserPool = Type.Object(
  {
    id: Type.String({ description: 'Unique id of the pool' }),
    name: Type.Optional(Type.String({ description: 'Name, if it has one' })),
    available_count: Type.Integer({ minimum: 0, description: 'Browsers that wait to be leased' }),
    acquired_count: Type.Integer({ minimum: 0, description: 'Browsers that are leased' }),
    created_at: Timestamp('When the pool was created'),
    browser_pool_config: BrowserPoolConfig,
    extension_ids: Type.Array(Type.String(), {
      description: 'Ids of its extensions, in the order they load',
    }),
    profile_id: Type.Optional(Type.String({ description: 'Id of its profile, if it has one' })),
  },
  { title: 'BrowserPool' },
)
export type BrowserPool = Static<typeof BrowserPool>
export type BrowserPoolConfig = BrowserPool['browser_pool_config']

export const AcquireBrowserRequest = Strict({
  acquire_timeout_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 259_200,
      description:
        'How long to wait for one at most; by default as long as it takes to fill the pool, and no longer than BERTH_ACQUIRE_WAIT_SECONDS says, so that clients that give up after 60 seconds are told to come again',
    }),
  ),
  name: Type.Optional(BrowserName),
  tags: Type.Optional(Tags),
  start_url: Type.Optional(Text({ description: 'Opened without waiting for it to load', maxLength: 2048 })),
  telemetry: Type.Optional(Nullable(TelemetryRequest)),
})
export type AcquireBrowserRequest = Static<typeof AcquireBrowserRequest>

export const ReleaseBrowserRequest = Strict({
  session_id: resourceId('browser session'),
  reuse: Type.Optional(
    Type.Boolean({
      default: true,
      description:
        'True: the next lease gets it as it is, with its tabs, cookies and logins. False: it ends, and is replaced',
    }),
  ),
  reset: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Extension: it ends, and an unused one from those held ready is in its place before this is answered',
    }),
  ),
})
export type ReleaseBrowserRequest = Static<typeof ReleaseBrowserRequest>

const params = Type.Object({ id: idOrName('browser pool') })

export const createBrowserPool = operation({
  id: 'createBrowserPool',
  tag,
  summary: 'Create a pool of browsers',
  description:
    'Its browsers are made from then on, as fast as `fill_rate_per_minute` allows. All of its size counts as ' +
    'sessions at once, and as pooled sessions, whether they are there or not.',
  method: 'POST',
  path: '/browser_pools',
  body: CreateBrowserPoolRequest,
  status: 201,
  response: BrowserPool,
  errors: ['already_exists', 'too_many_sessions'],
})

export const listBrowserPools = operation({
  id: 'listBrowserPools',
  tag,
  summary: 'List browser pools, newest first',
  method: 'GET',
  path: '/browser_pools',
  query: Type.Object({
    ...pageQuery,
    query: Type.Optional(Text({ description: 'Part of the name, or the whole id', maxLength: 255 })),
    name: Type.Optional(Text({ description: 'Exactly this name', maxLength: 255 })),
  }),
  status: 200,
  response: Type.Array(BrowserPool),
  paging: 'offset',
  errors: ['bad_request'],
})

export const getBrowserPool = operation({
  id: 'getBrowserPool',
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
  tag,
  summary: 'Change a browser pool',
  description:
    'What is not given stays. Browsers that are there keep what they were made of, unless `discard_all_idle` is ' +
    'set; leased ones do in any case. `profile: {"id": ""}`, `extensions: []`, `proxy_id: ""`, `start_url: ""` ' +
    'and `chrome_policy: {}` take away what there was.',
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
  tag,
  summary: 'Delete a browser pool and its browsers',
  method: 'DELETE',
  path: '/browser_pools/{id}',
  kind: 'empty',
  params,
  body: Strict({
    force: Type.Optional(
      Type.Boolean({ default: false, description: 'Also with leased browsers, which end with it' }),
    ),
  }),
  bodyOptional: true,
  status: 204,
  errors: ['not_found', 'pool_in_use'],
})

export const acquireBrowser = operation({
  id: 'acquireBrowser',
  tag,
  summary: 'Lease a browser of a pool',
  description:
    'Answers at once with one that waits, and otherwise when there is one; who asked first gets it first. Its ' +
    'timeout is that of the pool and begins now. A caller that leaves without the answer has leased nothing, ' +
    'unless it sent an Idempotency-Key and can come again for it.',
  method: 'POST',
  path: '/browser_pools/{id}/acquire',
  params,
  body: AcquireBrowserRequest,
  bodyOptional: true,
  effect: 'act',
  waits: true,
  status: 200,
  alsoAnswers: { 204: 'There was none in time; ask again to go on waiting' },
  response: Browser,
  errors: ['not_found', 'already_exists', 'too_many_requests'],
})

export const releaseBrowser = operation({
  id: 'releaseBrowser',
  tag,
  summary: 'Give a leased browser back to its pool',
  description:
    'Its clients are disconnected and its URLs work no more; name, tags, telemetry, viewport and recordings of ' +
    'the lease end with it. Giving back one that waits already changes nothing.',
  method: 'POST',
  path: '/browser_pools/{id}/release',
  kind: 'empty',
  params,
  body: ReleaseBrowserRequest,
  effect: 'act',
  status: 204,
  errors: ['not_found', 'capacity_exhausted'],
})

export const flushBrowserPool = operation({
  id: 'flushBrowserPool',
  tag,
  summary: 'End all waiting browsers of a pool, which are then made anew',
  method: 'POST',
  path: '/browser_pools/{id}/flush',
  kind: 'empty',
  params,
  status: 204,
  errors: ['not_found'],
})
