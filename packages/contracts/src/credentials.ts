// What logins are done with: values that are written and never shown again.
import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { idOrName, Nullable, OneOf, pageQuery, Strict, Text, Timestamp } from './schema.ts'

const tag = 'Credentials'

export const MAX_VALUES = 50
/** What can be typed into a field at once. */
export const MAX_VALUE_LENGTH = 10_000
/** An otpauth URI with a long label. */
const MAX_TOTP_SECRET_LENGTH = 2_048
const MAX_NAME_LENGTH = 255

export const totpAlgorithms = ['SHA1', 'SHA256', 'SHA512'] as const
export type TotpAlgorithm = (typeof totpAlgorithms)[number]
export const TOTP_DIGITS = { minimum: 6, maximum: 9 }
export const TOTP_PERIOD = { minimum: 15, maximum: 300 }

const CredentialName = Text({
  description: 'Unique in the project',
  minLength: 1,
  maxLength: MAX_NAME_LENGTH,
})

const Domain = Text({
  description: 'Domain that the credential is for, such as `example.com`; of an address, its host is taken',
  minLength: 1,
  maxLength: 2_048,
})

const Values = Type.Record(
  Type.String({ pattern: `^[^\\p{Cc}\\p{Cs}]{1,${MAX_NAME_LENGTH}}$` }),
  Text({ description: 'Kept encrypted and never shown', maxLength: MAX_VALUE_LENGTH }),
  {
    additionalProperties: false,
    maxProperties: MAX_VALUES,
    description: 'What to fill in, by the name of the field, such as `email`, `username` or `password`',
  },
)

const ssoProvider = {
  description:
    'Sign in through this provider, such as `google`: its button is clicked first, and the values are filled in there',
  maxLength: 100,
}

const totpFields = {
  totp_algorithm: Type.Optional(
    OneOf(totpAlgorithms, {
      description: 'Extension: of `totp_secret`, unless that is a URI which says it; SHA1 when omitted',
    }),
  ),
  totp_digits: Type.Optional(
    Type.Integer({
      ...TOTP_DIGITS,
      description: 'Extension: of `totp_secret`, unless that is a URI which says it; 6 when omitted',
    }),
  ),
  totp_period: Type.Optional(
    Type.Integer({
      ...TOTP_PERIOD,
      description:
        'Extension: seconds, of `totp_secret`, unless that is a URI which says it; 30 when omitted',
    }),
  ),
}

const TOTP_SECRET =
  'Secret of an authenticator app: base32, in which spaces and dashes do not count, or an `otpauth://totp/` URI. Kept encrypted and never shown'

export const Credential = Type.Object(
  {
    id: Type.String({ description: 'Unique id' }),
    name: Type.String({ description: 'Unique in the project' }),
    domain: Type.String({ description: 'Domain that it is for' }),
    created_at: Timestamp('When it was created'),
    updated_at: Timestamp('When it was last changed, also by a login that was saved into it'),
    has_values: Type.Optional(Type.Boolean({ description: 'Whether it has values' })),
    has_totp_secret: Type.Optional(
      Type.Boolean({ description: 'Whether it can make one-time codes by itself' }),
    ),
    sso_provider: Type.Optional(
      Nullable(Type.String({ description: 'Provider to sign in through, if any' })),
    ),
    value_keys: Type.Optional(
      Type.Array(Type.String(), { description: 'Names of its values; not in lists of credentials' }),
    ),
    totp_code: Type.Optional(
      Type.String({ description: 'The code of this moment; only in the answer that set the secret' }),
    ),
    totp_code_expires_at: Type.Optional(Timestamp('Until when that code counts')),
  },
  { title: 'Credential' },
)
export type Credential = Static<typeof Credential>

export const CreateCredentialRequest = Strict({
  name: CredentialName,
  domain: Domain,
  values: Values,
  sso_provider: Type.Optional(Text(ssoProvider)),
  totp_secret: Type.Optional(Text({ description: TOTP_SECRET, maxLength: MAX_TOTP_SECRET_LENGTH })),
  ...totpFields,
})
export type CreateCredentialRequest = Static<typeof CreateCredentialRequest>

export const UpdateCredentialRequest = Strict({
  name: Type.Optional(CredentialName),
  values: Type.Optional({
    ...Values,
    description: 'Added to those that it has, or instead of those of the same name',
  }),
  remove_value_keys: Type.Optional(
    Type.Array(Text({ description: 'Name of a value', minLength: 1, maxLength: MAX_NAME_LENGTH }), {
      maxItems: 100,
      description: 'Values to remove, before `values` are added',
    }),
  ),
  sso_provider: Type.Optional(
    Nullable(Text({ ...ssoProvider, description: `${ssoProvider.description}. Empty or null removes it` })),
  ),
  totp_secret: Type.Optional(
    Text({ description: `${TOTP_SECRET}. An empty one removes it`, maxLength: MAX_TOTP_SECRET_LENGTH }),
  ),
  ...totpFields,
})
export type UpdateCredentialRequest = Static<typeof UpdateCredentialRequest>

export const TotpCode = Type.Object(
  {
    code: Type.String({ description: 'The code of this moment' }),
    expires_at: Timestamp('Until when it counts'),
  },
  { title: 'TotpCode' },
)
export type TotpCode = Static<typeof TotpCode>

/** How something that logs in says which credential it uses. */
export const CredentialReference = Strict(
  {
    name: Type.Optional(
      Text({
        description: 'Name of a credential of the same project',
        minLength: 1,
        maxLength: MAX_NAME_LENGTH,
      }),
    ),
    provider: Type.Optional(
      Text({ description: 'Name of a credential provider', minLength: 1, maxLength: MAX_NAME_LENGTH }),
    ),
    path: Type.Optional(
      Text({ description: 'Item of the provider, such as `Vault/Item`', minLength: 1, maxLength: 1_024 }),
    ),
    auto: Type.Optional(
      Type.Boolean({
        description:
          'The first item that has the domain among its addresses. Without `provider`, which is an extension: of all that are enabled, by priority',
      }),
    ),
  },
  {
    title: 'CredentialReference',
    description: 'One of `{name}`, `{provider, path}` and `{provider, auto: true}`',
  },
)
export type CredentialReference = Static<typeof CredentialReference>

const params = Type.Object({ id_or_name: idOrName('credential') })

export const createCredential = operation({
  id: 'createCredential',
  tag,
  summary: 'Create a credential',
  method: 'POST',
  path: '/credentials',
  body: CreateCredentialRequest,
  status: 201,
  response: Credential,
  errors: ['bad_request', 'already_exists'],
  onceOnly: ['totp_code', 'totp_code_expires_at'],
})

export const listCredentials = operation({
  id: 'listCredentials',
  tag,
  summary: 'List credentials, newest first',
  method: 'GET',
  path: '/credentials',
  query: Type.Object({
    ...pageQuery,
    domain: Type.Optional(Text({ description: 'The exact domain', maxLength: 2_048 })),
    query: Type.Optional(
      Text({ description: 'Case-insensitive part of the name or domain, or the id', maxLength: 255 }),
    ),
  }),
  status: 200,
  response: Type.Array(Credential),
  paging: 'offset',
  errors: ['bad_request'],
})

export const getCredential = operation({
  id: 'getCredential',
  tag,
  summary: 'Get a credential by id or name',
  method: 'GET',
  path: '/credentials/{id_or_name}',
  params,
  status: 200,
  response: Credential,
  errors: ['not_found', 'invalid_state'],
})

export const updateCredential = operation({
  id: 'updateCredential',
  tag,
  summary: 'Change a credential',
  description: 'What is left out stays as it is. What uses it follows a new name.',
  method: 'PATCH',
  path: '/credentials/{id_or_name}',
  params,
  body: UpdateCredentialRequest,
  status: 200,
  response: Credential,
  errors: ['bad_request', 'not_found', 'already_exists', 'invalid_state'],
})

export const deleteCredential = operation({
  id: 'deleteCredential',
  tag,
  summary: 'Delete a credential',
  description: 'What uses it goes on without: it can no longer log in by itself.',
  method: 'DELETE',
  path: '/credentials/{id_or_name}',
  kind: 'empty',
  params,
  status: 204,
  errors: ['not_found'],
})

export const getTotpCode = operation({
  id: 'getTotpCode',
  tag,
  summary: 'Get the one-time code of this moment',
  description: 'Answers `not_found` as well for a credential without a `totp_secret`.',
  method: 'GET',
  path: '/credentials/{id_or_name}/totp-code',
  params,
  status: 200,
  response: TotpCode,
  errors: ['not_found', 'invalid_state'],
})
