// A login from somewhere else: cookies and local storage that a person exports from their own browser.
import { Type, type Static } from 'typebox'
import { flowTypes } from './auth-connections.ts'
import { operation } from './operation.ts'
import { MAX_IMPORT_BYTES } from './session-file.ts'
import { Nullable, OneOf, Open, resourceId, Text, Timestamp } from './schema.ts'

export const MAX_COOKIES = 3_000
export const MAX_ORIGINS = 100
export const MAX_ITEMS = 2_000
/** Chromium keeps no longer ones. */
const MAX_COOKIE_LENGTH = 4_096
/** The whole request may be twice as long. */
const MAX_COOKIES_TXT_LENGTH = 2 * 1024 * 1024
const MAX_ITEM_NAME_LENGTH = 10_000
const MAX_ITEM_LENGTH = 2 * 1024 * 1024
export const MAX_LEFT_OUT = 100

const seconds = (description: string) => Type.Optional(Nullable(Type.Number({ description })))
const flag = (description: string) => Type.Optional(Nullable(Type.Boolean({ description })))

/** Both as Playwright writes it and as extensions for cookies do. */
const Cookie = Open(
  {
    name: Type.String({ maxLength: MAX_COOKIE_LENGTH, description: 'Name' }),
    value: Type.String({ maxLength: MAX_COOKIE_LENGTH, description: 'Value' }),
    domain: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Host of the cookie; with a leading dot, its subdomains too',
    }),
    path: Type.Optional(Type.String({ maxLength: MAX_COOKIE_LENGTH, description: '`/` when omitted' })),
    expires: seconds('When it expires, in seconds since 1970. -1, or nothing, for a cookie of the session'),
    expirationDate: seconds('The same, as extensions call it'),
    hostOnly: flag('Whether it is for this host only, as extensions say it'),
    httpOnly: flag('Whether scripts cannot read it'),
    secure: flag('Whether it is sent over HTTPS only'),
    sameSite: Type.Optional(
      Nullable(Type.String({ maxLength: 20, description: 'Strict, Lax or None, in any spelling' })),
    ),
    partitionKey: Type.Optional(
      Type.Unknown({ description: 'Site that the cookie belongs to, for a partitioned cookie' }),
    ),
  },
  { description: 'A cookie' },
)
export type GivenCookie = Static<typeof Cookie>

const Cookies = Type.Array(Cookie, { maxItems: MAX_COOKIES, description: 'Cookies' })

const Origin = Open({
  origin: Text({ description: 'Such as `https://example.com`', minLength: 1, maxLength: 300 }),
  localStorage: Type.Optional(
    Type.Array(
      Open({
        name: Type.String({ maxLength: MAX_ITEM_NAME_LENGTH, description: 'Key' }),
        value: Type.String({ maxLength: MAX_ITEM_LENGTH, description: 'Value' }),
      }),
      { maxItems: MAX_ITEMS, description: 'Local storage of the origin' },
    ),
  ),
  indexedDB: Type.Optional(
    Type.Array(Type.Unknown(), { maxItems: 1_000, description: 'Named in `left_out`: it is not imported' }),
  ),
})
export type GivenOrigin = Static<typeof Origin>

const StorageState = Open(
  {
    cookies: Type.Optional(Cookies),
    origins: Type.Optional(
      Type.Array(Origin, { maxItems: MAX_ORIGINS, description: 'Origins with what they store' }),
    ),
  },
  { description: 'What Playwright writes as `storageState`' },
)

export const ImportSessionRequest = Open(
  {
    storage_state: Type.Optional(StorageState),
    cookies: Type.Optional({
      ...Cookies,
      description: 'Cookies alone, as extensions such as Cookie-Editor export them',
    }),
    cookies_txt: Type.Optional(
      Type.String({
        maxLength: MAX_COOKIES_TXT_LENGTH,
        description: 'A file `cookies.txt` in the format of Netscape, as `curl` reads it',
      }),
    ),
  },
  { description: 'Exactly one of the three' },
)
export type ImportSessionRequest = Static<typeof ImportSessionRequest>

export const leftOutReasons = [
  'other_domain',
  'expired',
  'partitioned',
  'indexed_db',
  'not_importable',
] as const
export type LeftOutReason = (typeof leftOutReasons)[number]

export const ImportSessionResponse = Type.Object(
  {
    id: Type.String({ description: 'Id of the connection' }),
    flow_type: OneOf(flowTypes, { description: 'Type of the flow' }),
    flow_expires_at: Timestamp('When the flow expires'),
    cookies: Type.Integer({ description: 'How many cookies are taken' }),
    origins: Type.Integer({ description: 'How many origins with storage are taken' }),
    left_out: Type.Array(
      Type.Object({
        kind: OneOf(['cookie', 'origin'] as const, { description: 'What was left out' }),
        name: Type.Optional(Type.String({ description: 'Name of the cookie' })),
        domain: Type.String({ description: 'Domain of the cookie, or the origin' }),
        reason: OneOf(leftOutReasons, {
          description:
            'other_domain: not of the domain of the connection or its `allowed_domains`. expired: over. partitioned: belongs to a site in a frame of another. indexed_db: databases are not imported. not_importable: no browser would keep it',
        }),
      }),
      { description: `What was not taken; the first ${MAX_LEFT_OUT}` },
    ),
    left_out_count: Type.Integer({ description: 'How much was not taken' }),
  },
  { title: 'ImportedSession' },
)
export type ImportSessionResponse = Static<typeof ImportSessionResponse>

export const importSession = operation({
  id: 'importAuthConnectionSession',
  tag: 'Auth connections',
  summary: 'Extension: start a connection from a session of your own browser',
  description:
    'Takes cookies and local storage of the domain and its `allowed_domains`, in place of what the profile has of them. Responds at once; then a flow opens the website with and without them. It ends as `SUCCESS` if they make a difference, and otherwise says why not and leaves the profile as it was. No password is needed.',
  method: 'POST',
  path: '/auth/connections/{id}/import',
  params: Type.Object({ id: resourceId('connection') }),
  body: ImportSessionRequest,
  maxBodyBytes: MAX_IMPORT_BYTES,
  status: 200,
  response: ImportSessionResponse,
  errors: ['bad_request', 'not_found', 'conflict', 'sessions_unavailable'],
})
