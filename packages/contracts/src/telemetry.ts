// Events of a session: captured by category, streamed live, and stored.
import { Type, type Static } from 'typebox'
import { control } from './control.ts'
import { MAX_OFFSET, OneOf, Open, Text } from './schema.ts'
import { DescribedTelemetryEvent } from './telemetry-data.ts'
import {
  categories,
  categoryOfType,
  eventCategories,
  sourceKinds,
  type Category,
  type EventType,
} from './telemetry-events.ts'

const tag = 'Telemetry'

export const DestinationRef = Open(
  {
    id: Type.Optional(Text({ description: 'Id of the destination', minLength: 1, maxLength: 255 })),
    name: Type.Optional(Text({ description: 'Name of the destination', minLength: 1, maxLength: 255 })),
  },
  { description: 'A destination of the project of the session, by `id` or by `name`' },
)
export type DestinationRef = Static<typeof DestinationRef>

const ExportRequest = Open(
  {
    otlp: Type.Optional(
      Open(
        {
          destination: Type.Optional(DestinationRef),
          enabled: Type.Optional(
            Type.Boolean({ description: 'False stops the export. A `destination` implies true' }),
          ),
        },
        {
          description: 'Export to an OTLP collector; a destination needs capture enabled in the same request',
        },
      ),
    ),
  },
  { description: 'Where events are exported to. Omit to keep it' },
)

const CategoryConfig = Type.Optional(
  Open({
    enabled: Type.Optional(Type.Boolean({ description: 'Whether events of this category are captured' })),
  }),
)
const categoryFields = Object.fromEntries(categories.map((category) => [category, CategoryConfig])) as Record<
  Category,
  typeof CategoryConfig
>

export const TelemetryRequest = Open(
  {
    enabled: Type.Optional(
      Type.Boolean({
        description:
          'True captures `control`, `connection`, `system` and `captcha`, plus the categories in `browser`. False captures nothing',
      }),
    ),
    browser: Type.Optional(Open(categoryFields, { description: 'Categories to turn on or off' })),
    export: Type.Optional(ExportRequest),
  },
  {
    description:
      'Events to capture. For SDK clients from 0.64 on, and for requests with `enabled`: `control`, `connection`, `system` ' +
      'and `captcha` are on, other categories are off unless turned on. For all other clients: `console`, `page`, ' +
      '`interaction` and `network` are on unless turned off',
  },
)
export type TelemetryRequest = Static<typeof TelemetryRequest>

const ShownCategory = Type.Optional(
  Type.Object({ enabled: Type.Boolean({ description: 'Whether events of this category are captured' }) }),
)
const shownFields = Object.fromEntries(categories.map((category) => [category, ShownCategory])) as Record<
  Category,
  typeof ShownCategory
>

export const TelemetryConfig = Type.Object(
  {
    browser: Type.Object(shownFields, { description: 'Settings by category' }),
    export: Type.Optional(
      Type.Object(
        {
          otlp: Type.Object({
            enabled: Type.Boolean({ description: 'Whether events are exported' }),
            destination: Type.String({ description: 'Id of the destination' }),
          }),
        },
        { description: 'Where events are exported to; absent when they are not' },
      ),
    ),
  },
  { description: 'Captured events; absent when nothing is captured' },
)
export type TelemetryConfig = Static<typeof TelemetryConfig>

export const TelemetryEvent = Type.Object(
  {
    seq: Type.Integer({
      minimum: 1,
      description: 'Sequence number; grows by one. A gap means that events were dropped',
    }),
    event: Type.Object(
      {
        ts: Type.Integer({ description: 'Time in microseconds since 1970' }),
        type: OneOf(Object.keys(categoryOfType) as EventType[], { description: 'Type of the event' }),
        category: Type.Optional(OneOf(eventCategories, { description: 'Category of the event' })),
        source: Type.Object(
          {
            kind: OneOf(sourceKinds, { description: 'Kind of source' }),
            event: Type.Optional(Type.String({ description: 'Name of the event at the source' })),
            metadata: Type.Optional(
              Type.Record(Type.String(), Type.String(), { description: 'Further details' }),
            ),
          },
          { description: 'Source of the event' },
        ),
        data: Type.Optional(
          Type.Unsafe<Record<string, unknown>>({
            type: 'object',
            additionalProperties: true,
            description: 'Data of the event; depends on the type',
          }),
        ),
        truncated: Type.Optional(
          Type.Boolean({ description: 'Whether data was cut because it was too large' }),
        ),
      },
      { title: 'TelemetryEventBody' },
    ),
  },
  { title: 'TelemetryEvent' },
)
export type TelemetryEvent = Static<typeof TelemetryEvent>

export const streamTelemetry = control({
  id: 'streamTelemetry',
  referenceIds: ['streamBrowserTelemetry'],
  tag,
  scope: 'browsers:read',
  summary: 'Follow the events of a session',
  description:
    'Each event has its `seq` as the event id. Send it in the `Last-Event-ID` header to resume a stream, on any server. ' +
    'Without the header, or with 0, the stream starts now; with `replay=all`, it starts with the oldest stored event. ' +
    'The stream ends with the session and is empty if nothing is captured. An open stream keeps the session awake.',
  method: 'GET',
  at: '/telemetry/stream',
  aliases: ['/browsers/{id}/telemetry'],
  kind: 'events',
  contentType: 'text/event-stream',
  headers: Type.Object({
    'Last-Event-ID': Type.Optional(
      Type.String({
        pattern: '^\\d{1,20}$',
        description: '`id` of the last event that you got. Takes precedence over `replay`',
      }),
    ),
  }),
  query: Type.Object({
    replay: Type.Optional(
      Type.String({
        maxLength: 100,
        description: '`all` starts with the oldest event; any other value starts now',
      }),
    ),
  }),
  status: 200,
  response: TelemetryEvent,
  described: DescribedTelemetryEvent,
  errors: ['bad_request'],
})

const moment = (description: string) => Type.String({ maxLength: 64, description })

export const listTelemetryEvents = control({
  id: 'listTelemetryEvents',
  referenceIds: ['readBrowserTelemetryEvents'],
  tag,
  scope: 'browsers:read',
  summary: 'List the events of a session',
  description:
    'Also works for ended sessions; Berth keeps events for BERTH_TELEMETRY_RETENTION_DAYS days. With a filter, a page ' +
    'can be empty even if more pages follow.',
  method: 'GET',
  at: '/telemetry/events',
  query: Type.Object({
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        default: 20,
        description: 'Maximum number of events to return',
      }),
    ),
    offset: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_OFFSET,
        description: '`X-Next-Offset` of the previous page; other values are not allowed',
      }),
    ),
    since: Type.Optional(
      moment(
        'Start time: an RFC 3339 timestamp, or a duration before now such as `5m` (the default). Cannot be combined with `offset`',
      ),
    ),
    until: Type.Optional(moment('End time, exclusive; same format as `since`')),
    category: Type.Optional(
      Type.Array(OneOf(eventCategories, { description: 'Category' }), {
        maxItems: 20,
        description: 'Only events of these categories',
      }),
    ),
    order: Type.Optional(
      OneOf(['asc', 'desc'] as const, {
        default: 'asc',
        description: '`asc`: oldest first. `desc`: newest first; cannot be combined with `since`',
      }),
    ),
  }),
  status: 200,
  response: Type.Array(TelemetryEvent),
  described: Type.Array(DescribedTelemetryEvent),
  paging: 'offset',
})

export const exportTelemetryHar = control({
  id: 'exportTelemetryHar',
  tag,
  scope: 'browsers:read',
  summary: 'Download the network requests of a session as HAR',
  description:
    'Extension: returns the stored network events as an HTTP Archive (HAR) 1.2 file, which browser developer tools can ' +
    'open. Bodies are as long as in the events.',
  method: 'GET',
  at: '/telemetry/har',
  kind: 'binary',
  contentType: 'application/json',
  status: 200,
})

export const MAX_EXPORTED_EVENTS = 100_000

export const exportTelemetryEvents = control({
  id: 'exportTelemetryEvents',
  tag,
  scope: 'browsers:read',
  summary: 'Download the events of a session as lines of JSON',
  description:
    'Extension: returns the newest stored events, oldest first, each as one line with a TelemetryEvent. Also works for ' +
    'ended sessions.',
  method: 'GET',
  at: '/telemetry/ndjson',
  kind: 'binary',
  contentType: 'application/x-ndjson',
  query: Type.Object({
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_EXPORTED_EVENTS,
        default: MAX_EXPORTED_EVENTS,
        description: 'Maximum number of events; older ones are left out',
      }),
    ),
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        default: 0,
        description: 'Only events with a greater `seq`',
      }),
    ),
    brief: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Leave out headers, bodies, pictures, stacks, arguments, and in which frame it happened, and cut long texts: for an overview of many events',
      }),
    ),
  }),
  status: 200,
})
