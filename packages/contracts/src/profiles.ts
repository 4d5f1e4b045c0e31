// Profiles: browser data such as cookies and logins that Berth keeps between sessions.
import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { idOrName, Nullable, OneOf, Open, pageQuery, Text, Timestamp } from './schema.ts'

const tag = 'Profiles'

const ProfileName = Text({ description: 'Name, unique in the project', minLength: 1, maxLength: 255 })

export const Profile = Type.Object(
  {
    id: Type.String({ description: 'Unique id' }),
    name: Type.Optional(Nullable(Type.String({ description: 'Name of the profile, if set' }))),
    created_at: Timestamp('When the profile was created'),
    updated_at: Type.Optional(Timestamp('When the profile was last saved, imported, restored or renamed')),
    last_used_at: Type.Optional(Timestamp('When a session last started with the profile')),
    version: Type.Optional(
      Type.Integer({
        description: 'Extension: version that new sessions start from; absent before the first save',
      }),
    ),
    size_bytes: Type.Optional(Type.Integer({ description: 'Extension: unpacked size of that version' })),
    is_saving: Type.Optional(
      Type.Boolean({ description: 'Extension: whether an ended session is being saved into the profile' }),
    ),
  },
  { title: 'Profile' },
)
export type Profile = Static<typeof Profile>

export const versionSources = ['session', 'save', 'import'] as const
export type VersionSource = (typeof versionSources)[number]

export const ProfileVersion = Type.Object(
  {
    version: Type.Integer({ description: 'Version number, starting with 1' }),
    is_current: Type.Boolean({ description: 'Whether new sessions start from this version' }),
    source: OneOf(versionSources, {
      description:
        '`session`: saved at the end of a session. `save`: saved from a running session. `import`: imported archive',
    }),
    based_on: Type.Optional(Type.Integer({ description: 'Version that the session started with' })),
    conflicts_with: Type.Optional(
      Type.Integer({
        description: 'Version that became current while the session ran; its changes are not in this version',
      }),
    ),
    session_id: Type.Optional(Type.String({ description: 'Id of the saved session' })),
    size_bytes: Type.Integer({ description: 'Unpacked size' }),
    created_at: Timestamp('When the version was saved'),
  },
  { title: 'ProfileVersion' },
)
export type ProfileVersion = Static<typeof ProfileVersion>

export const conflictRules = ['replace', 'keep'] as const
export type ConflictRule = (typeof conflictRules)[number]

/** The profile of a new session: exactly one of id and name. */
export const ProfileRequest = Open(
  {
    id: Type.Optional(Text({ description: 'Id of the profile', maxLength: 255 })),
    name: Type.Optional(Text({ description: 'Name of the profile, instead of its id', maxLength: 255 })),
    save_changes: Type.Optional(
      Type.Boolean({ default: false, description: 'Save the profile when the session ends' }),
    ),
    on_conflict: Type.Optional(
      OneOf(conflictRules, {
        default: 'replace',
        description:
          'Extension: what to do if another session saved the profile first. `replace`: new sessions start from this save, and the other stays as a version. `keep`: new sessions start from the other, and this save stays as a version',
      }),
    ),
  },
  { title: 'BrowserProfile', description: 'Profile of the session' },
)
export type ProfileRequest = Static<typeof ProfileRequest>

export const saveStates = ['saving', 'saved', 'conflict', 'failed'] as const
export type SaveState = (typeof saveStates)[number]

/** Result of saving a session's changes. */
export const ProfileSave = Type.Object(
  {
    state: OneOf(saveStates, {
      description:
        '`saving`, then `saved`. `conflict`: saved as a version that new sessions do not start from. `failed`: the profile is unchanged',
    }),
    version: Type.Optional(Type.Integer({ description: 'Version that was created' })),
    message: Type.Optional(Type.String({ description: 'Why the save failed' })),
  },
  {
    title: 'ProfileSave',
    description: 'Extension: result of saving the profile, after the session has ended',
  },
)
export type ProfileSave = Static<typeof ProfileSave>

export const CreateProfileRequest = Open({ name: Type.Optional(ProfileName) })
export const UpdateProfileRequest = Open({ name: ProfileName })
export const SaveProfileRequest = Open({
  force: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Save even if another session has saved the profile since this one started',
    }),
  ),
})

const params = Type.Object({ id_or_name: idOrName('profile') })
export const archiveFormats = ['tar.zst', 'tar'] as const
export type ArchiveFormat = (typeof archiveFormats)[number]
const MAX_VERSION = 2_147_483_647
const VersionNumber = Type.Integer({ minimum: 1, maximum: MAX_VERSION, description: 'Version number' })

export const createProfile = operation({
  id: 'createProfile',
  referenceIds: ['postProfiles'],
  tag,
  summary: 'Create a profile',
  description: 'The profile is empty until a session with `save_changes` ends or you import an archive.',
  method: 'POST',
  path: '/profiles',
  body: CreateProfileRequest,
  bodyOptional: true,
  status: 201,
  response: Profile,
  errors: ['bad_request', 'already_exists'],
})

export const listProfiles = operation({
  id: 'listProfiles',
  referenceIds: ['getProfiles'],
  tag,
  summary: 'List profiles, newest first',
  method: 'GET',
  path: '/profiles',
  query: Type.Object({
    ...pageQuery,
    query: Type.Optional(Text({ description: 'Text to find in the name or id', maxLength: 255 })),
    name: Type.Optional(Text({ description: 'Exact name', maxLength: 255 })),
  }),
  status: 200,
  response: Type.Array(Profile),
  paging: 'offset',
  errors: ['bad_request'],
})

export const getProfile = operation({
  id: 'getProfile',
  referenceIds: ['getProfileByIdOrName'],
  tag,
  summary: 'Get a profile by id or name',
  method: 'GET',
  path: '/profiles/{id_or_name}',
  params,
  status: 200,
  response: Profile,
  errors: ['not_found'],
})

export const updateProfile = operation({
  id: 'updateProfile',
  referenceIds: ['patchProfileByIdOrName'],
  tag,
  summary: 'Rename a profile',
  description: 'Running sessions keep using the profile and save into it.',
  method: 'PATCH',
  path: '/profiles/{id_or_name}',
  params,
  body: UpdateProfileRequest,
  status: 200,
  response: Profile,
  errors: ['bad_request', 'not_found', 'already_exists'],
})

export const deleteProfile = operation({
  id: 'deleteProfile',
  referenceIds: ['deleteProfileByIdOrName'],
  tag,
  summary: 'Delete a profile and all its versions',
  description:
    'Running sessions continue, but their changes are not saved. Delete auth connections of the profile first.',
  method: 'DELETE',
  path: '/profiles/{id_or_name}',
  kind: 'empty',
  params,
  effect: 'act',
  status: 204,
  errors: ['not_found', 'resource_in_use'],
})

export const downloadProfile = operation({
  id: 'downloadProfile',
  referenceIds: ['downloadProfileByIdOrName'],
  tag,
  // Who has the cookies is logged in.
  scope: 'profiles:write',
  summary: 'Download the user-data directory of a profile',
  method: 'GET',
  path: '/profiles/{id_or_name}/download',
  kind: 'binary',
  contentType: 'application/octet-stream',
  params,
  query: Type.Object({
    format: Type.Optional(OneOf(archiveFormats, { description: 'Archive format', default: 'tar.zst' })),
    version: Type.Optional({
      ...VersionNumber,
      description: 'Extension: version to download; the current version when omitted',
    }),
  }),
  status: 200,
  alsoAnswers: { 202: 'The profile is empty because nothing was saved yet; the body is empty' },
  errors: ['bad_request', 'not_found', 'invalid_state'],
})

export const importProfile = operation({
  id: 'importProfile',
  tag,
  summary: 'Extension: import a user-data directory as a new version of a profile',
  description:
    'The body is a tar archive with `Default/` at its top, uncompressed or compressed with gzip or zstd (a window of at most 8 MiB: `zstd -19` or less). Use a downloaded profile, or close Chromium and run `tar -C <user-data-dir> -c .`. Caches, links and device files are skipped.',
  method: 'PUT',
  path: '/profiles/{id_or_name}/archive',
  params,
  bodyStream: 'bytes',
  effect: 'act',
  status: 201,
  response: ProfileVersion,
  errors: ['bad_request', 'not_found', 'payload_too_large', 'storage_full', 'insufficient_storage'],
})

export const listProfileVersions = operation({
  id: 'listProfileVersions',
  tag,
  summary: 'Extension: list the versions of a profile, newest first',
  description: 'The operator sets how many versions are kept. The current version is always kept.',
  method: 'GET',
  path: '/profiles/{id_or_name}/versions',
  params,
  query: Type.Object(pageQuery),
  status: 200,
  response: Type.Array(ProfileVersion),
  paging: 'offset',
  errors: ['bad_request', 'not_found'],
})

export const restoreProfileVersion = operation({
  id: 'restoreProfileVersion',
  tag,
  summary: 'Extension: make a version the current one again',
  method: 'POST',
  path: '/profiles/{id_or_name}/versions/{version}/restore',
  params: Type.Object({ id_or_name: idOrName('profile'), version: VersionNumber }),
  status: 200,
  response: Profile,
  errors: ['bad_request', 'not_found'],
})

export const saveSessionProfile = operation({
  id: 'saveSessionProfile',
  tag,
  summary: 'Extension: save the profile of a running session',
  description:
    'Restarts Chromium with its tabs, because its data on disk is only complete after Chromium has stopped. CDP and BiDi clients are disconnected (close code 1001) and must reconnect. Returns 409 if another session has saved the profile since this one started, unless `force` is set.',
  method: 'POST',
  path: '/browsers/{id}/profile/save',
  params: Type.Object({ id: idOrName('browser session') }),
  body: SaveProfileRequest,
  bodyOptional: true,
  effect: 'act',
  status: 200,
  response: ProfileVersion,
  errors: [
    'bad_request',
    'not_found',
    'conflict',
    'payload_too_large',
    'storage_full',
    'insufficient_storage',
  ],
})
