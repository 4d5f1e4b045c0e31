// External password managers that logins read values from. Values are read when needed and never stored.
import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { Nullable, OneOf, pageQuery, resourceId, Strict, Text, Timestamp } from './schema.ts'

const tag = 'Credential providers'
const path = '/org/credential_providers'
/** For clients before 0.31.1. */
const alias = '/org/credential-providers'

export const providerTypes = ['onepassword', 'hashicorp_vault'] as const
export type ProviderType = (typeof providerTypes)[number]

const ProviderName = Text({ description: 'Name, unique in the organisation', minLength: 1, maxLength: 255 })
const ProviderToken = (description: string) =>
  Type.String({ pattern: '^[\\x21-\\x7e]+$', minLength: 1, maxLength: 16_384, description })
const cacheTtl = {
  minimum: 0,
  maximum: 86_400,
  description: 'Seconds that the list of items is cached. Values are never cached',
}
const Enabled = { description: 'Whether logins may use the provider' }
const Priority = { description: 'When no provider is named, providers with lower numbers are asked first' }
const ServerUrl = {
  description:
    'Extension: URL of a 1Password Connect server or of Vault, such as `https://connect.example`. Without it, `onepassword` uses a service account',
  maxLength: 2_048,
}

const PROJECT_IDS = 'Extension: ids of the projects whose connections may use the provider'
const projectIds = (description: string) =>
  Type.Array(resourceId('project'), { maxItems: 1_000, description })

const providerType = OneOf(providerTypes, {
  description:
    '`onepassword`: a 1Password service account, or a Connect server if `server_url` is set. `hashicorp_vault` (extension): the KV version 2 engines of HashiCorp Vault',
})

export const CredentialProvider = Type.Object(
  {
    id: Type.String({ description: 'Unique id' }),
    name: Type.String({ description: 'Name, unique in the organisation' }),
    provider_type: providerType,
    enabled: Type.Boolean(Enabled),
    priority: Type.Integer(Priority),
    cache_ttl_seconds: Type.Integer({ description: `Extension: ${cacheTtl.description}` }),
    server_url: Type.Optional(Type.String(ServerUrl)),
    project_ids: projectIds(`${PROJECT_IDS}. A project key sees only its own`),
    created_at: Timestamp('When the provider was created'),
    updated_at: Timestamp('When the provider was last changed'),
  },
  { title: 'CredentialProvider' },
)
export type CredentialProvider = Static<typeof CredentialProvider>

export const CreateCredentialProviderRequest = Strict({
  name: ProviderName,
  provider_type: providerType,
  token: ProviderToken(
    'Token of a service account (`ops_…`), a Connect server, or Vault. Stored encrypted and never shown',
  ),
  cache_ttl_seconds: Type.Optional(Type.Integer({ ...cacheTtl, default: 300 })),
  server_url: Type.Optional(Text({ ...ServerUrl, minLength: 1 })),
  project_ids: Type.Optional(
    projectIds(`${PROJECT_IDS}. When omitted: the project that the request names, or the default project`),
  ),
})
export type CreateCredentialProviderRequest = Static<typeof CreateCredentialProviderRequest>

export const UpdateCredentialProviderRequest = Strict({
  name: Type.Optional(ProviderName),
  token: Type.Optional(ProviderToken('New token, replaces the current one')),
  enabled: Type.Optional(Type.Boolean(Enabled)),
  priority: Type.Optional(Type.Integer({ ...Priority, minimum: 0, maximum: 1_000_000 })),
  cache_ttl_seconds: Type.Optional(Type.Integer(cacheTtl)),
  server_url: Type.Optional(
    Nullable(Text({ ...ServerUrl, description: 'Extension: new URL; an empty string or null removes it' })),
  ),
  project_ids: Type.Optional(projectIds(`${PROJECT_IDS}. Replaces the whole list`)),
})
export type UpdateCredentialProviderRequest = Static<typeof UpdateCredentialProviderRequest>

export const CredentialProviderItem = Type.Object(
  {
    id: Type.String({ description: 'Id at the provider' }),
    title: Type.String({ description: 'Name at the provider' }),
    vault_id: Type.String({ description: 'Id of the vault that contains the item' }),
    vault_name: Type.String({ description: 'Name of the vault that contains the item' }),
    path: Type.String({ description: 'Path that connections use for the item: `Vault/Item`' }),
    urls: Type.Optional(Type.Array(Type.String(), { description: 'URLs that the item is for' })),
  },
  { title: 'CredentialProviderItem' },
)
export type CredentialProviderItem = Static<typeof CredentialProviderItem>

export const CredentialProviderItems = Type.Object(
  { items: Type.Array(CredentialProviderItem, { description: 'Items, in search order' }) },
  { title: 'CredentialProviderItems' },
)
export type CredentialProviderItems = Static<typeof CredentialProviderItems>

export const CredentialProviderTestResult = Type.Object(
  {
    success: Type.Boolean({ description: 'Whether the provider is reachable and accepts the token' }),
    vaults: Type.Array(
      Type.Object({
        id: Type.String({ description: 'Id of the vault' }),
        name: Type.String({ description: 'Name of the vault' }),
      }),
      { description: 'Vaults that the token can see' },
    ),
    error: Type.Optional(Type.String({ description: 'Why the test failed' })),
  },
  { title: 'CredentialProviderTestResult' },
)
export type CredentialProviderTestResult = Static<typeof CredentialProviderTestResult>

const params = Type.Object({ id: resourceId('credential provider') })

export const createCredentialProvider = operation({
  id: 'createCredentialProvider',
  referenceIds: ['postCredentialProviders'],
  tag,
  summary: 'Create a credential provider',
  description: 'Does not contact the provider; use its `test` endpoint for that.',
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
  referenceIds: ['getCredentialProviders'],
  tag,
  summary: 'List credential providers, newest first',
  method: 'GET',
  path,
  aliases: [alias],
  query: Type.Object({
    ...pageQuery,
    query: Type.Optional(
      Text({ description: 'Case-insensitive text to find in the name, or the id', maxLength: 255 }),
    ),
  }),
  status: 200,
  response: Type.Array(CredentialProvider),
  paging: 'offset',
  errors: ['bad_request'],
})

export const getCredentialProvider = operation({
  id: 'getCredentialProvider',
  referenceIds: ['getCredentialProvidersById'],
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
  referenceIds: ['patchCredentialProvidersById'],
  tag,
  summary: 'Update a credential provider',
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
  referenceIds: ['deleteCredentialProvidersById'],
  tag,
  summary: 'Delete a credential provider',
  description: 'Connections that use the provider stay, but can no longer log in automatically.',
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
  referenceIds: ['getCredentialProviderItems'],
  tag,
  summary: 'List the login items of a credential provider',
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
  referenceIds: ['testCredentialProviderById'],
  tag,
  summary: 'Test a credential provider and list its vaults',
  description: 'Also clears the cached list of items.',
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
