// Places outside that logins get their values from: read when they are needed, and never kept.
import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { Nullable, OneOf, pageQuery, resourceId, Strict, Text, Timestamp } from './schema.ts'

const tag = 'Credential providers'
const path = '/org/credential_providers'
/** Of clients before 0.31.1. */
const alias = '/org/credential-providers'

export const providerTypes = ['onepassword', 'hashicorp_vault'] as const
export type ProviderType = (typeof providerTypes)[number]

const ProviderName = Text({ description: 'Unique in the organisation', minLength: 1, maxLength: 255 })
const ProviderToken = (description: string) =>
  Type.String({ pattern: '^[\\x21-\\x7e]+$', minLength: 1, maxLength: 16_384, description })
const cacheTtl = {
  minimum: 0,
  maximum: 86_400,
  description: 'Seconds that the list of items is remembered; their values never are',
}
const Enabled = { description: 'Whether logins may use it' }
const Priority = { description: 'Where no provider is named, lower ones are asked first' }
const ServerUrl = {
  description:
    'Extension: address of a 1Password Connect server, or of Vault, such as `https://connect.example`. Without it, `onepassword` means a service account',
  maxLength: 2_048,
}

const providerType = OneOf(providerTypes, {
  description:
    '`onepassword`: a service account, or a Connect server where there is a `server_url`. `hashicorp_vault`, an extension: the KV version 2 engines of HashiCorp Vault',
})

export const CredentialProvider = Type.Object(
  {
    id: Type.String({ description: 'Unique id' }),
    name: Type.String({ description: 'Unique in the organisation' }),
    provider_type: providerType,
    enabled: Type.Boolean(Enabled),
    priority: Type.Integer(Priority),
    cache_ttl_seconds: Type.Integer({ description: `Extension: ${cacheTtl.description}` }),
    server_url: Type.Optional(Type.String(ServerUrl)),
    created_at: Timestamp('When it was created'),
    updated_at: Timestamp('When it was last changed'),
  },
  { title: 'CredentialProvider' },
)
export type CredentialProvider = Static<typeof CredentialProvider>

export const CreateCredentialProviderRequest = Strict({
  name: ProviderName,
  provider_type: providerType,
  token: ProviderToken(
    'Of a service account (`ops_…`), a Connect server, or Vault. Kept encrypted and never shown',
  ),
  cache_ttl_seconds: Type.Optional(Type.Integer({ ...cacheTtl, default: 300 })),
  server_url: Type.Optional(Text({ ...ServerUrl, minLength: 1 })),
})
export type CreateCredentialProviderRequest = Static<typeof CreateCredentialProviderRequest>

export const UpdateCredentialProviderRequest = Strict({
  name: Type.Optional(ProviderName),
  token: Type.Optional(ProviderToken('A new one, instead of that which it has')),
  enabled: Type.Optional(Type.Boolean(Enabled)),
  priority: Type.Optional(Type.Integer({ ...Priority, minimum: 0, maximum: 1_000_000 })),
  cache_ttl_seconds: Type.Optional(Type.Integer(cacheTtl)),
  server_url: Type.Optional(
    Nullable(Text({ ...ServerUrl, description: 'Extension: a new one; empty or null removes it' })),
  ),
})
export type UpdateCredentialProviderRequest = Static<typeof UpdateCredentialProviderRequest>

export const CredentialProviderItem = Type.Object(
  {
    id: Type.String({ description: 'Id at the provider' }),
    title: Type.String({ description: 'Name at the provider' }),
    vault_id: Type.String({ description: 'Id of the vault that it is in' }),
    vault_name: Type.String({ description: 'Name of the vault that it is in' }),
    path: Type.String({ description: 'How connections refer to it: `Vault/Item`' }),
    urls: Type.Optional(Type.Array(Type.String(), { description: 'Addresses that it is for' })),
  },
  { title: 'CredentialProviderItem' },
)
export type CredentialProviderItem = Static<typeof CredentialProviderItem>

export const CredentialProviderItems = Type.Object(
  { items: Type.Array(CredentialProviderItem, { description: 'In the order that they are looked through' }) },
  { title: 'CredentialProviderItems' },
)
export type CredentialProviderItems = Static<typeof CredentialProviderItems>

export const CredentialProviderTestResult = Type.Object(
  {
    success: Type.Boolean({ description: 'Whether it could be reached and takes the token' }),
    vaults: Type.Array(
      Type.Object({
        id: Type.String({ description: 'Id of the vault' }),
        name: Type.String({ description: 'Name of the vault' }),
      }),
      { description: 'Vaults that the token can see' },
    ),
    error: Type.Optional(Type.String({ description: 'What is wrong, if it failed' })),
  },
  { title: 'CredentialProviderTestResult' },
)
export type CredentialProviderTestResult = Static<typeof CredentialProviderTestResult>

const params = Type.Object({ id: resourceId('credential provider') })

export const createCredentialProvider = operation({
  id: 'createCredentialProvider',
  tag,
  summary: 'Create a credential provider',
  description: 'Nothing is asked of it yet; see its test.',
  method: 'POST',
  path,
  aliases: [alias],
  auth: 'organization-key',
  body: CreateCredentialProviderRequest,
  status: 201,
  response: CredentialProvider,
  errors: ['bad_request', 'forbidden', 'already_exists'],
})

export const listCredentialProviders = operation({
  id: 'listCredentialProviders',
  tag,
  summary: 'List credential providers, newest first',
  method: 'GET',
  path,
  aliases: [alias],
  query: Type.Object({
    ...pageQuery,
    query: Type.Optional(
      Text({ description: 'Case-insensitive part of the name, or the id', maxLength: 255 }),
    ),
  }),
  status: 200,
  response: Type.Array(CredentialProvider),
  paging: 'offset',
  errors: ['bad_request'],
})

export const getCredentialProvider = operation({
  id: 'getCredentialProvider',
  tag,
  summary: 'Get a credential provider',
  method: 'GET',
  path: `${path}/{id}`,
  aliases: [`${alias}/{id}`],
  params,
  status: 200,
  response: CredentialProvider,
  errors: ['not_found'],
})

export const updateCredentialProvider = operation({
  id: 'updateCredentialProvider',
  tag,
  summary: 'Change a credential provider',
  method: 'PATCH',
  path: `${path}/{id}`,
  aliases: [`${alias}/{id}`],
  auth: 'organization-key',
  params,
  body: UpdateCredentialProviderRequest,
  status: 200,
  response: CredentialProvider,
  errors: ['bad_request', 'forbidden', 'not_found', 'already_exists'],
})

export const deleteCredentialProvider = operation({
  id: 'deleteCredentialProvider',
  tag,
  summary: 'Delete a credential provider',
  description: 'What refers to it goes on without: it can no longer log in by itself.',
  method: 'DELETE',
  path: `${path}/{id}`,
  aliases: [`${alias}/{id}`],
  auth: 'organization-key',
  kind: 'empty',
  params,
  status: 204,
  errors: ['forbidden', 'not_found'],
})

export const listCredentialProviderItems = operation({
  id: 'listCredentialProviderItems',
  tag,
  summary: 'List what a credential provider has for logins',
  method: 'GET',
  path: `${path}/{id}/items`,
  aliases: [`${alias}/{id}/items`],
  auth: 'organization-key',
  params,
  status: 200,
  response: CredentialProviderItems,
  errors: ['forbidden', 'not_found', 'invalid_state', 'provider_unreachable'],
})

export const testCredentialProvider = operation({
  id: 'testCredentialProvider',
  tag,
  summary: 'See whether a credential provider works, and which vaults it has',
  description: 'Also forgets the list of items that is remembered, so that the next one is new.',
  method: 'POST',
  path: `${path}/{id}/test`,
  aliases: [`${alias}/{id}/test`],
  auth: 'organization-key',
  effect: 'act',
  params,
  status: 200,
  response: CredentialProviderTestResult,
  errors: ['forbidden', 'not_found', 'invalid_state'],
})
