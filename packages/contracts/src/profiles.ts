// What a browser knows, kept from one session to the next.
import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { idOrName, Nullable, OneOf, pageQuery, Strict, Text, Timestamp } from './schema.ts'

const tag = 'Profiles'

const ProfileName = Text({ description: 'Unique in the project', minLength: 1, maxLength: 255 })

export const Profile = Type.Object(
  {
    id: Type.String({ description: 'Unique id' }),
    name: Type.Optional(Nullable(Type.String({ description: 'Name, if it has one' }))),
    created_at: Timestamp('When it was created'),
    updated_at: Type.Optional(Timestamp('When it was last saved, imported, restored or renamed')),
    last_used_at: Type.Optional(Timestamp('When a session last began with it')),
    version: Type.Optional(
      Type.Integer({
        description: 'Extension: the version that sessions start from; none was saved without',
      }),
    ),
    size_bytes: Type.Optional(Type.Integer({ description: 'Extension: size of that version, unpacked' })),
    is_saving: Type.Optional(
      Type.Boolean({ description: 'Extension: whether a session that has ended is being saved into it' }),
    ),
  },
  { title: 'Profile' },
)
export type Profile = Static<typeof Profile>

export const versionSources = ['session', 'save', 'import'] as const
export type VersionSource = (typeof versionSources)[number]

export const ProfileVersion = Type.Object(
  {
    version: Type.Integer({ description: 'Number of the version, from 1 on' }),
    is_current: Type.Boolean({ description: 'Whether sessions start from it' }),
    source: OneOf(versionSources, {
      description: 'The end of a session, a save while it went on, or an archive that was imported',
    }),
    based_on: Type.Optional(Type.Integer({ description: 'The version that its session began with' })),
    conflicts_with: Type.Optional(
      Type.Integer({
        description: 'The version that had become current meanwhile, which it knows nothing of',
      }),
    ),
    session_id: Type.Optional(Type.String({ description: 'The session that was saved' })),
    size_bytes: Type.Integer({ description: 'Size unpacked' }),
    created_at: Timestamp('When it was saved'),
  },
  { title: 'ProfileVersion' },
)
export type ProfileVersion = Static<typeof ProfileVersion>

export const conflictRules = ['replace', 'keep'] as const
export type ConflictRule = (typeof conflictRules)[number]

/** Which profile a session is to have; exactly one of id and name. */
export const ProfileRequest = Strict(
  {
    id: Type.Optional(Text({ description: 'Id of the profile', maxLength: 255 })),
    name: Type.Optional(Text({ description: 'Name of the profile, instead of its id', maxLength: 255 })),
    save_changes: Type.Optional(
      Type.Boolean({ default: false, description: 'Save into the profile when the session ends' }),
    ),
    on_conflict: Type.Optional(
      OneOf(conflictRules, {
        default: 'replace',
        description:
          'Extension: what a save does when another one came first. `replace`: sessions start from it, and the other is kept as a version; `keep`: it is kept as a version, and sessions go on starting from the other',
      }),
    ),
  },
  { title: 'BrowserProfile', description: 'Profile of the session' },
)
export type ProfileRequest = Static<typeof ProfileRequest>

export const saveStates = ['saving', 'saved', 'conflict', 'failed'] as const
export type SaveState = (typeof saveStates)[number]

/** What became of a session's changes. */
export const ProfileSave = Type.Object(
  {
    state: OneOf(saveStates, {
      description:
        '`saving`, then `saved`; `conflict`: kept as a version that sessions do not start from; `failed`: the profile is as it was',
    }),
    version: Type.Optional(Type.Integer({ description: 'The version that was made' })),
    message: Type.Optional(Type.String({ description: 'Why it failed' })),
  },
  { title: 'ProfileSave', description: 'Extension: what became of the changes; once the session has ended' },
)
export type ProfileSave = Static<typeof ProfileSave>

export const CreateProfileRequest = Strict({ name: Type.Optional(ProfileName) })
export const UpdateProfileRequest = Strict({ name: ProfileName })
export const SaveProfileRequest = Strict({
  force: Type.Optional(
    Type.Boolean({ default: false, description: 'Also when the profile was saved by another meanwhile' }),
  ),
})

const params = Type.Object({ id_or_name: idOrName('profile') })
export const archiveFormats = ['tar.zst', 'tar'] as const
export type ArchiveFormat = (typeof archiveFormats)[number]
const MAX_VERSION = 2_147_483_647
const VersionNumber = Type.Integer({ minimum: 1, maximum: MAX_VERSION, description: 'Number of a version' })

export const createProfile = operation({
  id: 'createProfile',
  tag,
  summary: 'Create a profile',
  description: 'It is empty until a session with `save_changes` ends, or an archive is imported.',
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
  tag,
  summary: 'List profiles, newest first',
  method: 'GET',
  path: '/profiles',
  query: Type.Object({
    ...pageQuery,
    query: Type.Optional(Text({ description: 'Part of the name or of the id', maxLength: 255 })),
    name: Type.Optional(Text({ description: 'The exact name', maxLength: 255 })),
  }),
  status: 200,
  response: Type.Array(Profile),
  paging: 'offset',
  errors: ['bad_request'],
})

export const getProfile = operation({
  id: 'getProfile',
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
  tag,
  summary: 'Rename a profile',
  description: 'Sessions that use it go on, and are saved into it: they know it by its id.',
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
  tag,
  summary: 'Delete a profile and all its versions',
  description:
    'Sessions that use it go on, and their changes are not saved. An auth connection that keeps it logged in is to be deleted first.',
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
  tag,
  summary: 'Download the user-data directory of a profile',
  method: 'GET',
  path: '/profiles/{id_or_name}/download',
  kind: 'binary',
  contentType: 'application/octet-stream',
  params,
  query: Type.Object({
    format: Type.Optional(OneOf(archiveFormats, { description: 'Compressed or not', default: 'tar.zst' })),
    version: Type.Optional({
      ...VersionNumber,
      description: 'Extension: another version than the current one',
    }),
  }),
  status: 200,
  alsoAnswers: { 202: 'Nothing was saved yet, and the body is empty' },
  errors: ['bad_request', 'not_found', 'invalid_state'],
})

export const importProfile = operation({
  id: 'importProfile',
  tag,
  summary: 'Extension: import a user-data directory as the new version of a profile',
  description:
    'The body is a tar, as it is or compressed with zstd or gzip, with `Default/` at its top: what a download gives, or `tar -C <user-data-dir> -c .` of a Chromium that was closed. Caches, links and devices are left out.',
  method: 'PUT',
  path: '/profiles/{id_or_name}/archive',
  params,
  bodyStream: 'bytes',
  effect: 'act',
  status: 201,
  response: ProfileVersion,
  errors: ['bad_request', 'not_found', 'payload_too_large', 'insufficient_storage'],
})

export const listProfileVersions = operation({
  id: 'listProfileVersions',
  tag,
  summary: 'Extension: list the versions of a profile, newest first',
  description: 'How many are kept is set by the operator; the current one always is.',
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
  summary: 'Extension: make sessions start from a version again',
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
  summary: 'Extension: save a session into its profile without ending it',
  description:
    'Chromium is ended and started again with its tabs, because only then all of it is on the disk and fits together: clients of CDP and BiDi are told to come again (1001). When another session was saved into the profile since this one began, it is a 409 unless `force` is set.',
  method: 'POST',
  path: '/browsers/{id}/profile/save',
  params: Type.Object({ id: idOrName('browser session') }),
  body: SaveProfileRequest,
  bodyOptional: true,
  effect: 'act',
  status: 200,
  response: ProfileVersion,
  errors: ['bad_request', 'not_found', 'conflict', 'payload_too_large', 'insufficient_storage'],
})
