// Browser extensions that a project keeps, and extensions put into a running session.
import { Type, type Static } from 'typebox'
import { control } from './control.ts'
import { EXTENSION_NAME } from './extension-limits.ts'
import { operation } from './operation.ts'
import { idOrName, Nullable, OneOf, pageQuery, Strict, Text, Timestamp } from './schema.ts'

const tag = 'Extensions'

/** By the published client it would be another operation. */
export const RESERVED_NAME = 'from_chrome_store'

export const Extension = Type.Object(
  {
    id: Type.String({ description: 'Unique id' }),
    created_at: Timestamp('When it was uploaded'),
    size_bytes: Type.Integer({ description: 'Size of what was uploaded' }),
    name: Type.Optional(Nullable(Type.String({ description: 'Name, if it has one' }))),
    checksum: Type.Optional(
      Nullable(Type.String({ description: 'SHA-256 of what was uploaded, in hexadecimal' })),
    ),
    last_used_at: Type.Optional(Nullable(Timestamp('When a session was last created with it'))),
    manifest: Type.Optional(
      Type.Object(
        {
          name: Type.String({ description: 'As the extension calls itself; may be a key of its messages' }),
          version: Type.String({ description: 'Such as 1.2.3' }),
        },
        { description: 'Extension: what its manifest says' },
      ),
    ),
  },
  { title: 'Extension' },
)
export type Extension = Static<typeof Extension>

/** At the creation of a session: exactly one of the two. */
export const ExtensionReference = Strict(
  {
    id: Type.Optional(Text({ description: 'Id of an extension of the project', maxLength: 255 })),
    name: Type.Optional(Text({ description: 'Or its name', maxLength: 255 })),
  },
  { description: 'An uploaded extension, by id or by name' },
)
export type ExtensionReference = Static<typeof ExtensionReference>

const params = Type.Object({ id: idOrName('extension') })

const archive = (description: string) =>
  Type.String({ contentMediaType: 'application/octet-stream', examples: ['@extension.zip'], description })

export const uploadExtension = operation({
  id: 'uploadExtension',
  tag,
  summary: 'Upload an extension: a zip archive of an unpacked one, or a signed crx',
  description:
    'The archive is looked through: what this Chromium would refuse, such as manifest version 2, is refused here. ' +
    'An extension keeps the id its publisher gave it when it comes as a crx, or has a `key` in its manifest.',
  method: 'POST',
  path: '/extensions',
  bodyStream: 'multipart',
  form: Type.Object({
    file: archive('The archive, up to 100 MiB'),
    name: Type.Optional(
      Type.String({
        pattern: EXTENSION_NAME,
        description: 'Unique in the project: letters, digits, dot, dash, underscore',
      }),
    ),
  }),
  effect: 'act',
  status: 201,
  response: Extension,
  errors: ['bad_request', 'already_exists', 'payload_too_large', 'conflict', 'insufficient_storage'],
})

export const listExtensions = operation({
  id: 'listExtensions',
  tag,
  summary: 'List extensions, newest first; with an organisation-wide key those of all projects',
  method: 'GET',
  path: '/extensions',
  query: Type.Object({
    ...pageQuery,
    query: Type.Optional(Text({ description: 'Part of the name or of the id', maxLength: 255 })),
    name: Type.Optional(Text({ description: 'Exact name', maxLength: 255 })),
  }),
  status: 200,
  response: Type.Array(Extension),
  paging: 'offset',
  errors: ['bad_request'],
})

export const downloadFromChromeStore = operation({
  id: 'downloadFromChromeStore',
  tag,
  summary: 'Fetch an extension from the Chrome Web Store, as a zip archive that can be uploaded',
  method: 'GET',
  path: '/extensions/from_chrome_store',
  kind: 'binary',
  contentType: 'application/zip',
  query: Type.Object({
    url: Type.String({
      minLength: 1,
      maxLength: 2048,
      description:
        'Its page in the store, such as https://chromewebstore.google.com/detail/<name>/<id>, or its id',
    }),
    os: Type.Optional(
      OneOf(['win', 'mac', 'linux'] as const, {
        description: 'For which system, where it differs',
        default: 'linux',
      }),
    ),
  }),
  status: 200,
  errors: ['bad_request', 'not_found', 'store_unreachable', 'insufficient_storage'],
})

export const downloadExtension = operation({
  id: 'downloadExtension',
  tag,
  summary: 'Download an extension as a zip archive',
  method: 'GET',
  path: '/extensions/{id}',
  kind: 'binary',
  contentType: 'application/zip',
  params,
  status: 200,
  errors: ['not_found', 'invalid_state'],
})

export const getExtension = operation({
  id: 'getExtension',
  tag,
  summary: 'Get what is known of an extension',
  method: 'GET',
  path: '/extensions/{id}/metadata',
  params,
  status: 200,
  response: Extension,
  errors: ['not_found'],
})

export const deleteExtension = operation({
  id: 'deleteExtension',
  tag,
  summary: 'Delete an extension; sessions that have it keep it',
  method: 'DELETE',
  path: '/extensions/{id}',
  kind: 'empty',
  params,
  effect: 'act',
  status: 204,
  errors: ['not_found'],
})

export const loadExtensions = control({
  id: 'loadExtensions',
  tag,
  summary: 'Load extensions into a running session',
  description:
    'Up to 20 archives in one form: `extensions[0][name]`, `extensions[0][zip_file]` and so on. ' +
    'Each is unpacked to /home/kernel/extensions/<name>; one that is there already is replaced. ' +
    'Pages that are open get content scripts when they are loaded again. The browser is not restarted, unless one of them ' +
    'needs to be installed by policy (`webRequestBlocking`, `enterprise.*`): then its pages are gone and clients come again.',
  method: 'POST',
  at: '/extensions',
  kind: 'empty',
  bodyStream: 'multipart',
  form: Type.Object({
    'extensions[0][name]': Type.String({
      pattern: EXTENSION_NAME,
      description: 'Name of its directory',
    }),
    'extensions[0][zip_file]': archive('The archive, zip or crx, up to 100 MiB'),
  }),
  status: 201,
  errors: ['payload_too_large', 'insufficient_storage'],
})
