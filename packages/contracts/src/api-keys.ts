import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { Nullable, OneOf, Open, pageQuery, resourceId, Text, Timestamp } from './schema.ts'
import { ScopeList } from './scopes.ts'

const tag = 'API keys'

const apiKeyFields = {
  id: Type.String({ description: 'Unique key id' }),
  name: Type.String({ description: 'Name of the key' }),
  created_at: Timestamp('When the key was created'),
  created_by: Type.Object(
    {
      id: Type.String({ description: 'Id of the creator' }),
      name: Nullable(Type.String({ description: 'Name of the creator. Null when unknown' })),
      email: Type.String({ description: 'Email address of the creator' }),
    },
    { description: 'Who created the key' },
  ),
  expires_at: Nullable(Timestamp('When the key stops working. Null means never')),
  deleted_at: Nullable(Timestamp('When the key was deleted. Null while it exists')),
  project_id: Nullable(Type.String({ description: 'Project of the key. Null for an organisation-wide key' })),
  project_name: Nullable(
    Type.String({
      description: 'Name of that project. Null for an organisation-wide key or an unavailable project',
    }),
  ),
  masked_key: Type.String({ description: 'The key with its middle hidden' }),
  scopes: Nullable({ ...ScopeList, description: 'What the key may do. Null means everything' }),
  created_by_key_id: Nullable(
    Type.String({
      description:
        'Key that made this key, and ends it when it is deleted. Null for a key of the operator, or one from before Berth kept it',
    }),
  ),
}

export const ApiKey = Type.Object(apiKeyFields, { title: 'ApiKey' })
export type ApiKey = Static<typeof ApiKey>

export const CreatedApiKey = Type.Object(
  {
    ...apiKeyFields,
    // Required by the client's types, absent only when an Idempotency-Key replays the creation.
    key: Type.Optional(Type.String({ description: 'The full key, shown only in this response' })),
  },
  { title: 'CreatedApiKey' },
)
export type CreatedApiKey = Static<typeof CreatedApiKey>

const KeyName = Text({ description: 'Name of the key', minLength: 1, maxLength: 255 })
const days = (minimum: number, description: string) =>
  Nullable(Type.Integer({ minimum, maximum: 3650, description }))
const params = Type.Object({ id: resourceId('API key') })
const includeDeleted = Type.Optional(Type.Boolean({ description: 'Include deleted keys', default: false }))

export const apiKeySortFields = ['created_at', 'name', 'expires_at'] as const
export const apiKeyStatuses = ['active', 'deleted', 'all'] as const

const MAY_CHANGE =
  'A key may change itself, and keys that have no more scopes, live no longer, and did not make it'

export const createApiKey = operation({
  id: 'createApiKey',
  referenceIds: ['postApiKeys'],
  tag,
  summary: 'Create an API key; only this response contains the full key',
  method: 'POST',
  path: '/org/api_keys',
  body: Open({
    name: KeyName,
    days_to_expire: Type.Optional(
      days(1, 'Days until the key expires. Null means never. A key never outlives the key that makes it'),
    ),
    scopes: Type.Optional(
      Nullable({
        ...ScopeList,
        description:
          'What the key may do, at most what the key that makes it may do. Omit or null for the same as that key. `read` is reading everything; the `write` scope of a family includes its `read`',
      }),
    ),
    project_id: Type.Optional(
      Nullable(
        Text({
          description: 'Project of the key. Null for an organisation-wide key',
          minLength: 1,
          maxLength: 255,
        }),
      ),
    ),
  }),
  status: 201,
  response: CreatedApiKey,
  closedToApps: true,
  errors: ['bad_request', 'forbidden', 'project_not_found'],
  onceOnly: ['key'],
})

export const listApiKeys = operation({
  id: 'listApiKeys',
  tag,
  summary: 'List API keys, masked',
  method: 'GET',
  path: '/org/api_keys',
  query: Type.Object({
    ...pageQuery,
    query: Type.Optional(
      Text({
        description:
          'Case-insensitive text to find in the key name, creator or project. An id or masked key matches by prefix',
        maxLength: 255,
      }),
    ),
    name: Type.Optional(Text({ description: 'Exact key name', maxLength: 255 })),
    sort_by: Type.Optional(
      OneOf(apiKeySortFields, { description: 'Field to sort by', default: 'created_at' }),
    ),
    sort_direction: Type.Optional(
      OneOf(['asc', 'desc'] as const, { description: 'Sort direction', default: 'desc' }),
    ),
    status: Type.Optional(
      OneOf(apiKeyStatuses, {
        description: '`active` includes expired keys that were not deleted',
        default: 'active',
      }),
    ),
    include_deleted: Type.Optional(
      Type.Boolean({ description: 'Deprecated: use `status=all`', deprecated: true }),
    ),
  }),
  status: 200,
  response: Type.Array(ApiKey),
  paging: 'offset',
  errors: ['bad_request'],
})

export const getApiKey = operation({
  id: 'getApiKey',
  referenceIds: ['getApiKeysById'],
  tag,
  summary: 'Get an API key, masked',
  method: 'GET',
  path: '/org/api_keys/{id}',
  params,
  query: Type.Object({ include_deleted: includeDeleted }),
  status: 200,
  response: ApiKey,
  errors: ['bad_request', 'not_found'],
})

export const updateApiKey = operation({
  id: 'updateApiKey',
  referenceIds: ['patchApiKeysById'],
  tag,
  summary: 'Rename an API key',
  description: MAY_CHANGE,
  closedToApps: true,
  method: 'PATCH',
  path: '/org/api_keys/{id}',
  params,
  body: Open({ name: KeyName }),
  status: 200,
  response: ApiKey,
  errors: ['bad_request', 'forbidden', 'not_found'],
})

export const deleteApiKey = operation({
  id: 'deleteApiKey',
  referenceIds: ['deleteApiKeysById'],
  tag,
  summary: 'Delete an API key; it and every key made with it stop working at once',
  description: MAY_CHANGE,
  closedToApps: true,
  method: 'DELETE',
  path: '/org/api_keys/{id}',
  kind: 'empty',
  params,
  status: 204,
  errors: ['cannot_delete_current_key', 'forbidden', 'not_found'],
})

export const rotateApiKey = operation({
  id: 'rotateApiKey',
  tag,
  summary: 'Replace an API key; the old key keeps working for a grace period',
  description: `The new key takes over the keys that the old one made. It never outlives the key of this request. ${MAY_CHANGE}`,
  closedToApps: true,
  method: 'POST',
  path: '/org/api_keys/{id}/rotate',
  params,
  body: Open({
    days_to_expire: Type.Optional(
      days(1, 'Days until the new key expires. Omit or null for the lifetime of the old key'),
    ),
    expire_in_days: Type.Optional(
      days(0, 'Days that the old key keeps working, 7 when omitted. 0 disables it at once'),
    ),
  }),
  bodyOptional: true,
  status: 201,
  response: CreatedApiKey,
  errors: ['bad_request', 'forbidden', 'not_found'],
  onceOnly: ['key'],
})
