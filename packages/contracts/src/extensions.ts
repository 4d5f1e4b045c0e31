// Browser extensions of a project, and extensions loaded into a running session.
import { Type, type Static } from 'typebox'
import { control } from './control.ts'
import { EXTENSION_NAME } from './extension-limits.ts'
import { operation } from './operation.ts'
import { idOrName, Nullable, OneOf, Open, pageQuery, Text, Timestamp } from './schema.ts'

const tag = 'Extensions'

/** Not allowed as a name: it would collide with the path of downloadFromChromeStore. */
export const RESERVED_NAME = 'from_chrome_store'

export const Extension = Type.Object(
  {
    id: Type.String({ description: 'Unique id' }),
    created_at: Timestamp('When the extension was uploaded'),
    size_bytes: Type.Integer({ description: 'Size of the uploaded archive' }),
    name: Type.Optional(Nullable(Type.String({ description: 'Name of the extension, if set' }))),
    checksum: Type.Optional(
      Nullable(Type.String({ description: 'SHA-256 of the uploaded archive, in hexadecimal' })),
    ),
    last_used_at: Type.Optional(Nullable(Timestamp('When a session last used the extension'))),
    manifest: Type.Optional(
      Type.Object(
        {
          name: Type.String({
            description: 'Name in the manifest; may be a message key such as `__MSG_name__`',
          }),
          version: Type.String({ description: 'Version, such as 1.2.3' }),
        },
        { description: 'Extension: name and version from the manifest' },
      ),
    ),
  },
  { title: 'Extension' },
)
export type Extension = Static<typeof Extension>

/** Exactly one of the two fields. */
export const ExtensionReference = Open(
  {
    id: Type.Optional(Text({ description: 'Id of the extension', maxLength: 255 })),
    name: Type.Optional(Text({ description: 'Name of the extension, instead of its id', maxLength: 255 })),
  },
  { description: 'An uploaded extension of the project, by id or name' },
)
export type ExtensionReference = Static<typeof ExtensionReference>

const params = Type.Object({ id: idOrName('extension') })

const archive = (description: string) =>
  Type.String({
    format: 'binary',
    contentMediaType: 'application/octet-stream',
    examples: ['@extension.zip'],
    description,
  })

export const uploadExtension = operation({
  id: 'uploadExtension',
  referenceIds: ['postExtensions'],
  tag,
  summary: 'Upload an extension as a zip archive or a signed crx file',
  description:
    'Berth checks the archive and rejects what Chromium would reject, such as manifest version 2. ' +
    'The extension keeps the id of its publisher if it is a crx file or has a `key` in its manifest.',
  method: 'POST',
  path: '/extensions',
  bodyStream: 'multipart',
  form: Type.Object({
    file: archive('Zip or crx archive, up to 100 MiB'),
    name: Type.Optional(
      Type.String({
        pattern: EXTENSION_NAME,
        description: 'Name, unique in the project: letters, digits, dot, dash, underscore',
      }),
    ),
  }),
  effect: 'act',
  status: 201,
  response: Extension,
  errors: [
    'bad_request',
    'already_exists',
    'payload_too_large',
    'storage_full',
    'conflict',
    'insufficient_storage',
  ],
})

export const listExtensions = operation({
  id: 'listExtensions',
  referenceIds: ['getExtensions'],
  tag,
  summary: 'List extensions, newest first; an organisation-wide key lists all projects',
  method: 'GET',
  path: '/extensions',
  query: Type.Object({
    ...pageQuery,
    query: Type.Optional(Text({ description: 'Text to find in the name or id', maxLength: 255 })),
    name: Type.Optional(Text({ description: 'Exact name', maxLength: 255 })),
  }),
  status: 200,
  response: Type.Array(Extension),
  paging: 'offset',
  errors: ['bad_request'],
})

export const downloadFromChromeStore = operation({
  id: 'downloadFromChromeStore',
  referenceIds: ['getExtensionsFromChromeStore'],
  tag,
  summary: 'Download an extension from the Chrome Web Store as a zip archive',
  method: 'GET',
  path: '/extensions/from_chrome_store',
  kind: 'binary',
  contentType: 'application/zip',
  query: Type.Object({
    url: Type.String({
      minLength: 1,
      maxLength: 2048,
      description:
        'URL of the extension in the store, such as https://chromewebstore.google.com/detail/<name>/<id>, or its id',
    }),
    os: Type.Optional(
      OneOf(['win', 'mac', 'linux'] as const, {
        description: 'Operating system, for extensions that differ between systems',
        default: 'linux',
      }),
    ),
  }),
  status: 200,
  errors: ['bad_request', 'not_found', 'store_unreachable', 'insufficient_storage'],
})

export const downloadExtension = operation({
  id: 'downloadExtension',
  referenceIds: ['getExtensionByIdOrName'],
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
  referenceIds: ['getExtensionByIdOrNameMetadata'],
  tag,
  summary: 'Get the metadata of an extension',
  method: 'GET',
  path: '/extensions/{id}/metadata',
  params,
  status: 200,
  response: Extension,
  errors: ['not_found'],
})

export const deleteExtension = operation({
  id: 'deleteExtension',
  referenceIds: ['deleteExtensionByIdOrName'],
  tag,
  summary: 'Delete an extension; running sessions keep it',
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
  referenceIds: ['uploadExtensionsToBrowser'],
  tag,
  summary: 'Load extensions into a running session',
  description:
    'Send up to 20 archives in one form: `extensions[0][name]`, `extensions[0][zip_file]` and so on. ' +
    'Each is unpacked to /home/kernel/extensions/<name> and replaces an extension of the same name. ' +
    'Reload open pages to run content scripts in them. The browser restarts only if an extension needs to be installed ' +
    'by policy (`webRequestBlocking`, `enterprise.*`). Then open pages are lost and clients must reconnect.',
  method: 'POST',
  at: '/extensions',
  kind: 'empty',
  bodyStream: 'multipart',
  form: Type.Object(
    {
      'extensions[0][name]': Type.String({
        pattern: EXTENSION_NAME,
        description: 'Name of the directory for the extension',
      }),
      'extensions[0][zip_file]': archive('Zip or crx archive, up to 100 MiB'),
    },
    // The further extensions: extensions[1][name] and so on.
    { additionalProperties: true },
  ),
  status: 201,
  errors: ['payload_too_large', 'insufficient_storage'],
})
