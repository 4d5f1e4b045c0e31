// What a session did, as events: captured as asked for, streamed as it happens, kept for later.
import { Type, type Static } from 'typebox'
import { control } from './control.ts'
import { MAX_OFFSET, OneOf, Strict } from './schema.ts'
import {
  categories,
  categoryOfType,
  eventCategories,
  sourceKinds,
  type Category,
  type EventType,
} from './telemetry-events.ts'

const tag = 'Telemetry'

const CategoryConfig = Type.Optional(
  Strict({ enabled: Type.Optional(Type.Boolean({ description: 'Whether it is captured' })) }),
)
const categoryFields = Object.fromEntries(categories.map((category) => [category, CategoryConfig])) as Record<
  Category,
  typeof CategoryConfig
>

export const TelemetryRequest = Strict(
  {
    enabled: Type.Optional(
      Type.Boolean({
        description:
          'True: `control`, `connection`, `system` and `captcha`, and what `browser` adds. False: nothing',
      }),
    ),
    browser: Type.Optional(Strict(categoryFields, { description: 'What to capture, by category' })),
  },
  {
    description:
      'Capture of events. Clients before 0.64, and all others: `console`, `page`, `interaction` and `network` are on ' +
      'unless turned off. Clients from 0.64 on, and whoever sends `enabled`: `control`, `connection`, `system` and ' +
      '`captcha` are on, the others if turned on',
  },
)
export type TelemetryRequest = Static<typeof TelemetryRequest>

const ShownCategory = Type.Optional(
  Type.Object({ enabled: Type.Boolean({ description: 'Whether it is captured' }) }),
)
const shownFields = Object.fromEntries(categories.map((category) => [category, ShownCategory])) as Record<
  Category,
  typeof ShownCategory
>

export const TelemetryConfig = Type.Object(
  { browser: Type.Object(shownFields, { description: 'By category' }) },
  { description: 'What is captured; absent when nothing is' },
)
export type TelemetryConfig = Static<typeof TelemetryConfig>

export const TelemetryEvent = Type.Object(
  {
    seq: Type.Integer({
      minimum: 1,
      description: 'Grows by one; where it grows by more, events were dropped',
    }),
    event: Type.Object(
      {
        ts: Type.Integer({ description: 'When, in microseconds since 1970' }),
        type: OneOf(Object.keys(categoryOfType) as EventType[], { description: 'What happened' }),
        category: Type.Optional(OneOf(eventCategories, { description: 'What it belongs to' })),
        source: Type.Object(
          {
            kind: OneOf(sourceKinds, { description: 'Who tells' }),
            event: Type.Optional(Type.String({ description: 'What it is called there' })),
            metadata: Type.Optional(
              Type.Record(Type.String(), Type.String(), { description: 'What else is known' }),
            ),
          },
          { description: 'Where it comes from' },
        ),
        data: Type.Optional(
          Type.Unsafe<Record<string, unknown>>({
            type: 'object',
            additionalProperties: true,
            description: 'By type',
          }),
        ),
        truncated: Type.Optional(Type.Boolean({ description: 'Whether some of it was too large' })),
      },
      { title: 'TelemetryEventBody' },
    ),
  },
  { title: 'TelemetryEvent' },
)
export type TelemetryEvent = Static<typeof TelemetryEvent>

export const streamTelemetry = control({
  id: 'streamTelemetry',
  tag,
  summary: 'Follow the events of a session',
  description:
    'Each has its `seq` as the id of the event; with it in the header `Last-Event-ID` a stream goes on where ' +
    'another ended, on any server. Without it, and with 0, it begins now; with `replay=all` with the oldest that is ' +
    'kept. It ends with the session, and is silent where nothing is captured. An open one keeps the session awake.',
  method: 'GET',
  at: '/telemetry/stream',
  aliases: ['/browsers/{id}/telemetry'],
  kind: 'events',
  contentType: 'text/event-stream',
  query: Type.Object({
    replay: Type.Optional(
      Type.String({
        maxLength: 100,
        description: '`all`: from the oldest event; anything else: from now on',
      }),
    ),
  }),
  status: 200,
  response: TelemetryEvent,
  errors: ['bad_request'],
})

const moment = (description: string) => Type.String({ maxLength: 64, description })

export const listTelemetryEvents = control({
  id: 'listTelemetryEvents',
  tag,
  summary: 'Read the events of a session',
  description:
    'Also of one that has ended, for as long as BERTH_TELEMETRY_RETENTION_DAYS says. A page of a filtered list ' +
    'may be empty while another follows.',
  method: 'GET',
  at: '/telemetry/events',
  query: Type.Object({
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Most events to return' }),
    ),
    offset: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_OFFSET,
        description: 'Where to go on: X-Next-Offset of the page before, and nothing else',
      }),
    ),
    since: Type.Optional(
      moment(
        'From when on: RFC 3339, or how long ago, such as `5m`, which is the default; not with `offset`',
      ),
    ),
    until: Type.Optional(moment('Up to when, exclusive: the same')),
    category: Type.Optional(
      Type.Array(OneOf(eventCategories, { description: 'A category' }), {
        maxItems: 20,
        description: 'Only these',
      }),
    ),
    order: Type.Optional(
      OneOf(['asc', 'desc'] as const, {
        default: 'asc',
        description: '`asc`: oldest first. `desc`: newest first; not with `since`',
      }),
    ),
  }),
  status: 200,
  response: Type.Array(TelemetryEvent),
  paging: 'offset',
})

export const exportTelemetryHar = control({
  id: 'exportTelemetryHar',
  tag,
  summary: 'Download the requests of a session as HAR',
  description:
    'Extension: the network events of a session that are kept, as an HTTP Archive (HAR) 1.2 for the tools of browsers. ' +
    'Bodies are those of the events, cut as they are.',
  method: 'GET',
  at: '/telemetry/har',
  kind: 'binary',
  contentType: 'application/json',
  status: 200,
})
