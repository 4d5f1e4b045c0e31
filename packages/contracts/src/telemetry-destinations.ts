// Collectors that telemetry is exported to, over OTLP/HTTP.
import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { idOrName, Nullable, Open, pageQuery, Text, Timestamp } from './schema.ts'

const tag = 'Telemetry'

const MAX_ENDPOINT_LENGTH = 2048
/** Names and values together. */
export const MAX_HEADER_BYTES = 8192
const MAX_HEADERS = 64

const name = { description: 'Name, unique in the project without regard to case and accents', maxLength: 255 }
const description = { description: 'Description', maxLength: 1024 }
const endpoint = Text({
  description:
    'Base URL of an OTLP/HTTP collector, http or https; `/v1/logs` is appended. It must lead to public addresses, or to ' +
    'what BERTH_TELEMETRY_EXPORT_ALLOW lists',
  minLength: 1,
  maxLength: MAX_ENDPOINT_LENGTH,
})

/** Any name, so that an invalid one is refused with a message that says why. */
const headerMap = <T extends ReturnType<typeof Type.String>>(value: T, text: string) =>
  Type.Record(Type.String(), value, { maxProperties: MAX_HEADERS, description: text })
const HeaderValue = Type.String({ maxLength: MAX_HEADER_BYTES })

const count = (text: string) => Type.Integer({ minimum: 0, description: text })

export const OtlpDestination = Type.Object(
  {
    id: Type.String({ description: 'Unique id of the destination' }),
    name: Type.String(name),
    endpoint: Type.String({ description: 'Base URL of the collector' }),
    headers: Type.Record(Type.String(), Type.String(), {
      description:
        'Names of the headers that each request has. The values are never shown, so they are empty',
    }),
    description: Type.Optional(Type.String(description)),
    created_at: Timestamp('When the destination was created'),
    updated_at: Timestamp('When the destination was last changed'),
    delivery: Type.Object(
      {
        last_success_at: Type.Optional(Timestamp('When the collector last accepted events')),
        last_error: Type.Optional(
          Type.String({
            description: 'Why the last failed delivery failed; contains nothing that the collector sent',
          }),
        ),
        last_error_at: Type.Optional(Timestamp('When a delivery last failed')),
        consecutive_failures: count('Failed deliveries since the last success'),
        next_attempt_at: Type.Optional(Timestamp('After a failure: when the next delivery is tried')),
        backlog_events: count('Stored events that wait to be delivered'),
        delivered_events: count('Events that the collector accepted'),
        rejected_events: count('Events that the collector refused; they are not sent again'),
        expired_events: count('Events that were deleted before they were delivered'),
      },
      { description: 'Extension: how the deliveries go' },
    ),
  },
  { title: 'OtlpDestination' },
)
export type OtlpDestination = Static<typeof OtlpDestination>

export const CreateOtlpDestinationRequest = Open({
  name: Text({ ...name, minLength: 1 }),
  endpoint,
  headers: Type.Optional(
    headerMap(
      HeaderValue,
      `Headers of each request, such as Authorization; stored encrypted and never shown. Names and values together have at most ${MAX_HEADER_BYTES} bytes`,
    ),
  ),
  description: Type.Optional(Text(description)),
})
export type CreateOtlpDestinationRequest = Static<typeof CreateOtlpDestinationRequest>

export const UpdateOtlpDestinationRequest = Open({
  name: Type.Optional(Text({ ...name, minLength: 1 })),
  endpoint: Type.Optional(endpoint),
  headers: Type.Optional(
    Type.Record(Type.String(), Nullable(HeaderValue), {
      maxProperties: MAX_HEADERS,
      description: 'Header by header: a string sets it, null removes it, and others stay',
    }),
  ),
  description: Type.Optional(
    Text({ ...description, description: 'Description; an empty string removes it' }),
  ),
})
export type UpdateOtlpDestinationRequest = Static<typeof UpdateOtlpDestinationRequest>

const params = Type.Object({ id_or_name: idOrName('destination') })

export const createTelemetryDestination = operation({
  id: 'createTelemetryDestination',
  tag,
  summary: 'Create a destination for the export of telemetry',
  description:
    'A session exports its events when `telemetry.export.otlp.destination` names a destination of its project.',
  method: 'POST',
  path: '/telemetry/destinations',
  body: CreateOtlpDestinationRequest,
  effect: 'act',
  status: 201,
  response: OtlpDestination,
  errors: ['bad_request', 'already_exists', 'conflict'],
})

export const listTelemetryDestinations = operation({
  id: 'listTelemetryDestinations',
  tag,
  summary: 'List destinations for the export of telemetry, newest first',
  method: 'GET',
  path: '/telemetry/destinations',
  query: Type.Object({
    ...pageQuery,
    name: Type.Optional(
      Text({ description: 'Exact name, without regard to case and accents', maxLength: 255 }),
    ),
    query: Type.Optional(
      Text({
        description: 'Case-insensitive text to find in the name or endpoint, or the id',
        maxLength: 255,
      }),
    ),
  }),
  status: 200,
  response: Type.Array(OtlpDestination),
  paging: 'offset',
  errors: ['bad_request'],
})

export const getTelemetryDestination = operation({
  id: 'getTelemetryDestination',
  tag,
  summary: 'Get a destination by id or name',
  method: 'GET',
  path: '/telemetry/destinations/{id_or_name}',
  params,
  status: 200,
  response: OtlpDestination,
  errors: ['not_found'],
})

export const updateTelemetryDestination = operation({
  id: 'updateTelemetryDestination',
  tag,
  summary: 'Change a destination',
  description: 'Running sessions use the change at once, and a failed delivery is tried again at once.',
  method: 'PATCH',
  path: '/telemetry/destinations/{id_or_name}',
  params,
  body: UpdateOtlpDestinationRequest,
  bodyOptional: true,
  effect: 'act',
  status: 200,
  response: OtlpDestination,
  errors: ['bad_request', 'not_found', 'already_exists', 'conflict'],
})

export const deleteTelemetryDestination = operation({
  id: 'deleteTelemetryDestination',
  tag,
  summary: 'Delete a destination that is not in use',
  description: 'Events of ended sessions that wait for it are not delivered any more.',
  method: 'DELETE',
  path: '/telemetry/destinations/{id_or_name}',
  kind: 'empty',
  params,
  status: 204,
  errors: ['not_found', 'conflict'],
})
