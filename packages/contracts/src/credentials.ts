// Values that logins fill in. Clients can write them but never read them.
import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { idOrName, Nullable, OneOf, Open, pageQuery, resourceId, Strict, Text, Timestamp } from './schema.ts'

const tag = 'Credentials'

export const MAX_VALUES = 50
/** The most text that a login types into one field. */
export const MAX_VALUE_LENGTH = 10_000
/** Enough for an otpauth URI with a long label. */
const MAX_TOTP_SECRET_LENGTH = 2_048
const MAX_NAME_LENGTH = 255

export const totpAlgorithms = ['SHA1', 'SHA256', 'SHA512'] as const
export type TotpAlgorithm = (typeof totpAlgorithms)[number]
export const TOTP_DIGITS = { minimum: 6, maximum: 9 }
export const TOTP_PERIOD = { minimum: 15, maximum: 300 }

const CredentialName = Text({
  description: 'Name, unique in the project',
  minLength: 1,
  maxLength: MAX_NAME_LENGTH,
})

const Domain = Text({
  description: 'Domain that the credential is for, such as `example.com`. From a URL, only the host is used',
  minLength: 1,
  maxLength: 2_048,
})

const MAX_DOMAINS = 50
const ALLOWED_DOMAINS =
  'Extension: where the values may be typed, besides the domain and the usual identity providers, such as `login.example.net`'
const allowedDomains = (description: string) =>
  Type.Optional(
    Type.Array(
      Text({ description: 'A host, or `*.example.com` for all subdomains', minLength: 1, maxLength: 262 }),
      { maxItems: MAX_DOMAINS, description },
    ),
  )

const Values = Type.Record(
  Type.String({ pattern: `^[^\\p{Cc}\\p{Cs}]{1,${MAX_NAME_LENGTH}}$` }),
  Text({ description: 'Value; stored encrypted and never shown', maxLength: MAX_VALUE_LENGTH }),
  {
    additionalProperties: false,
    maxProperties: MAX_VALUES,
    description: 'Values by field name, such as `email`, `username` or `password`',
  },
)

const ssoProvider = {
  description:
    'Sign-in provider, such as `google`. The login clicks its button first and fills in the values there',
  maxLength: 100,
}

const totpFields = {
  totp_algorithm: Type.Optional(
    OneOf(totpAlgorithms, {
      description:
        'Extension: hash algorithm of `totp_secret`; SHA1 when omitted. A URI in `totp_secret` takes precedence',
    }),
  ),
  totp_digits: Type.Optional(
    Type.Integer({
      ...TOTP_DIGITS,
      description: 'Extension: length of the codes; 6 when omitted. A URI in `totp_secret` takes precedence',
    }),
  ),
  totp_period: Type.Optional(
    Type.Integer({
      ...TOTP_PERIOD,
      description:
        'Extension: seconds that a code is valid; 30 when omitted. A URI in `totp_secret` takes precedence',
    }),
  ),
}

const TOTP_SECRET =
  'Secret of an authenticator app: base32 (spaces and dashes are ignored) or an `otpauth://totp/` URI. Stored encrypted and never shown'

export const CredentialPasskey = Type.Object(
  {
    id: Type.String({ description: 'Unique id' }),
    rp_id: Type.String({ description: 'Relying party: the domain whose pages can use the passkey' }),
    created_at: Timestamp('When the website made the passkey, in the browser of a login'),
    last_used_at: Nullable(Timestamp('When it last signed somebody in')),
  },
  { title: 'CredentialPasskey' },
)
export type CredentialPasskey = Static<typeof CredentialPasskey>
const MAX_PASSWORD_LENGTH = 1_024

/** The secret of a signed request to an address of the user. */
export const hookSecret = Type.String({
  pattern: '^whsec_[A-Za-z0-9+/]{24,200}={0,2}$',
  maxLength: 256,
  description:
    'Secret of the signatures, by Standard Webhooks: `whsec_` and at least 24 characters of base64. Stored encrypted and never shown',
})

export const MailboxRequest = Open(
  {
    imap: Type.Optional(
      Open(
        {
          host: Text({ description: 'Host of the IMAP server', minLength: 1, maxLength: 253 }),
          port: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: 65_535,
              description: 'Port; 993 when omitted, or 143 without `tls`',
            }),
          ),
          security: Type.Optional(
            OneOf(['tls', 'starttls', 'none'] as const, {
              description: '`tls` when omitted. `none` is for servers in a private network',
            }),
          ),
          user: Text({ description: 'User name', minLength: 1, maxLength: MAX_PASSWORD_LENGTH }),
          password: Type.String({
            description: 'Password, or an app password. Stored encrypted and never shown',
            minLength: 1,
            maxLength: MAX_PASSWORD_LENGTH,
          }),
          folder: Type.Optional(
            Text({ description: 'Folder; INBOX when omitted', minLength: 1, maxLength: 255 }),
          ),
        },
        { description: 'A folder on an IMAP server. It is only read, and no mail is marked as read' },
      ),
    ),
    http: Type.Optional(
      Open(
        {
          url: Text({ description: 'Address that is asked', minLength: 1, maxLength: 2_048 }),
          secret: hookSecret,
        },
        {
          description:
            'An address of yours that is asked, by a signed POST, until it answers with `code`, `link` or `mail`. 204 means: nothing yet',
        },
      ),
    ),
    address: Type.Optional(
      Text({
        description: 'Only mails to this address count, for a mailbox of several accounts',
        minLength: 3,
        maxLength: 320,
      }),
    ),
  },
  {
    title: 'MailboxRequest',
    description:
      'Extension: where codes and links arrive that the website sends by mail, either `imap` or `http`. Stored encrypted and never shown',
  },
)
export type MailboxRequest = Static<typeof MailboxRequest>

export const Credential = Type.Object(
  {
    id: Type.String({ description: 'Unique id' }),
    name: Type.String({ description: 'Name, unique in the project' }),
    domain: Type.String({ description: 'Domain that the credential is for' }),
    created_at: Timestamp('When the credential was created'),
    updated_at: Timestamp('When the credential was last changed, by a client or by a saved login'),
    has_values: Type.Optional(Type.Boolean({ description: 'Whether the credential has values' })),
    has_totp_secret: Type.Optional(
      Type.Boolean({ description: 'Whether the credential has a secret for one-time codes' }),
    ),
    passkeys: Type.Optional(
      Type.Array(CredentialPasskey, {
        description:
          'Extension: passkeys, oldest first; absent in lists. The keys are stored encrypted and never shown',
      }),
    ),
    has_mailbox: Type.Optional(
      Type.Boolean({ description: 'Extension: whether the credential has a mailbox for codes and links' }),
    ),
    sso_provider: Type.Optional(Nullable(Type.String({ description: 'Sign-in provider, if any' }))),
    value_keys: Type.Optional(
      Type.Array(Type.String(), { description: 'Names of the values; absent in lists' }),
    ),
    allowed_domains: allowedDomains(ALLOWED_DOMAINS),
    totp_code: Type.Optional(
      Type.String({
        description: 'Current one-time code; only in the response to the request that set the secret',
      }),
    ),
    totp_code_expires_at: Type.Optional(Timestamp('When `totp_code` expires')),
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
  mailbox: Type.Optional(MailboxRequest),
  allowed_domains: allowedDomains(ALLOWED_DOMAINS),
})
export type CreateCredentialRequest = Static<typeof CreateCredentialRequest>

export const UpdateCredentialRequest = Strict({
  name: Type.Optional(CredentialName),
  values: Type.Optional({
    ...Values,
    description: 'Values to add. A value with an existing name replaces it',
  }),
  remove_value_keys: Type.Optional(
    Type.Array(Text({ description: 'Name of a value', minLength: 1, maxLength: MAX_NAME_LENGTH }), {
      maxItems: 100,
      description: 'Names of values to remove, before `values` are added',
    }),
  ),
  sso_provider: Type.Optional(
    Nullable(
      Text({ ...ssoProvider, description: `${ssoProvider.description}. An empty string or null removes it` }),
    ),
  ),
  totp_secret: Type.Optional(
    Text({ description: `${TOTP_SECRET}. An empty string removes it`, maxLength: MAX_TOTP_SECRET_LENGTH }),
  ),
  ...totpFields,
  mailbox: Type.Optional(Nullable(MailboxRequest)),
  allowed_domains: allowedDomains(
    `${ALLOWED_DOMAINS}. Replaces the whole list; a project key can only remove entries`,
  ),
})
export type UpdateCredentialRequest = Static<typeof UpdateCredentialRequest>

export const TotpCode = Type.Object(
  {
    code: Type.String({ description: 'Current one-time code' }),
    expires_at: Timestamp('When the code expires'),
  },
  { title: 'TotpCode' },
)
export type TotpCode = Static<typeof TotpCode>

/** How a connection refers to its credential. */
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
      Text({
        description: 'Name of a credential provider that the project may use',
        minLength: 1,
        maxLength: MAX_NAME_LENGTH,
      }),
    ),
    path: Type.Optional(
      Text({
        description: 'Path of an item of the provider, such as `Vault/Item`',
        minLength: 1,
        maxLength: 1_024,
      }),
    ),
    auto: Type.Optional(
      Type.Boolean({
        description:
          'Use the first item whose URLs include the domain. Extension: without `provider`, all enabled providers that the project may use are searched by priority',
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
  referenceIds: ['postCredentials'],
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
  referenceIds: ['getCredentials'],
  tag,
  summary: 'List credentials, newest first',
  method: 'GET',
  path: '/credentials',
  query: Type.Object({
    ...pageQuery,
    domain: Type.Optional(Text({ description: 'Exact domain', maxLength: 2_048 })),
    query: Type.Optional(
      Text({ description: 'Case-insensitive text to find in the name or domain, or the id', maxLength: 255 }),
    ),
  }),
  status: 200,
  response: Type.Array(Credential),
  paging: 'offset',
  errors: ['bad_request'],
})

export const getCredential = operation({
  id: 'getCredential',
  referenceIds: ['getCredentialByIdOrName'],
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
  referenceIds: ['patchCredentialByIdOrName'],
  tag,
  summary: 'Update a credential',
  description: 'Omitted fields stay unchanged. Connections keep using the credential under its new name.',
  method: 'PATCH',
  path: '/credentials/{id_or_name}',
  params,
  body: UpdateCredentialRequest,
  status: 200,
  response: Credential,
  errors: ['bad_request', 'forbidden', 'not_found', 'already_exists', 'invalid_state'],
})

export const deleteCredential = operation({
  id: 'deleteCredential',
  referenceIds: ['deleteCredentialByIdOrName'],
  tag,
  summary: 'Delete a credential',
  description: 'Connections that use the credential stay, but can no longer log in automatically.',
  method: 'DELETE',
  path: '/credentials/{id_or_name}',
  kind: 'empty',
  params,
  status: 204,
  errors: ['not_found'],
})

export const deletePasskey = operation({
  id: 'deleteCredentialPasskey',
  tag,
  summary: 'Extension: delete a passkey of a credential',
  description:
    'Deletes the key at once. The website still lists the passkey until somebody removes it there, but nobody can sign in with it.',
  method: 'DELETE',
  path: '/credentials/{id_or_name}/passkeys/{passkey_id}',
  kind: 'empty',
  params: Type.Object({ id_or_name: idOrName('credential'), passkey_id: resourceId('passkey') }),
  status: 204,
  errors: ['not_found'],
})

export const getTotpCode = operation({
  id: 'getTotpCode',
  referenceIds: ['getCredentialTotpCodeByIdOrName'],
  tag,
  // Who has the code can use it.
  scope: 'credentials:write',
  summary: 'Get the current one-time code',
  description: 'Also returns `not_found` for a credential without a `totp_secret`.',
  method: 'GET',
  path: '/credentials/{id_or_name}/totp-code',
  params,
  status: 200,
  response: TotpCode,
  errors: ['not_found', 'invalid_state'],
})
