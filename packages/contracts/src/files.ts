// Files of an instance. They live and end with the session.
import { Type } from 'typebox'
import { absolutePath, control } from './control.ts'
import { OneOf, resourceId, Strict } from './schema.ts'

const tag = 'Files'

const mode = (description: string) => Type.String({ pattern: '^[0-7]{3,4}$', examples: ['755'], description })

/** What any operation that writes may answer. */
const writeErrors = ['insufficient_storage'] as const

const FileInfo = Type.Object(
  {
    name: Type.String({ description: 'Base name' }),
    path: Type.String({ description: 'Absolute path' }),
    size_bytes: Type.Integer({ description: 'Size; 0 for directories' }),
    is_dir: Type.Boolean({ description: 'Whether it is a directory' }),
    mod_time: Type.String({ format: 'date-time', description: 'When it was last changed' }),
    mode: Type.String({ description: 'Such as "-rw-r--r--"' }),
  },
  { title: 'FileInfo' },
)

export const readFile = control({
  id: 'readFile',
  tag,
  summary: 'Read a file',
  method: 'GET',
  at: '/fs/read_file',
  kind: 'binary',
  query: Type.Object({ path: absolutePath('Of the file') }),
  status: 200,
})

export const writeFile = control({
  id: 'writeFile',
  tag,
  summary: 'Write a file: the body becomes its content, all of it or nothing',
  method: 'PUT',
  at: '/fs/write_file',
  kind: 'empty',
  query: Type.Object({
    path: absolutePath('Of the file; directories above it are made'),
    mode: Type.Optional(mode('Octal permissions; 644 by default, or those of the file that is replaced')),
  }),
  bodyStream: 'bytes',
  status: 201,
  errors: writeErrors,
})

export const listFiles = control({
  id: 'listFiles',
  tag,
  summary: 'List a directory, by name',
  method: 'GET',
  at: '/fs/list_files',
  query: Type.Object({ path: absolutePath('Of the directory') }),
  status: 200,
  response: Type.Array(FileInfo),
})

export const fileInfo = control({
  id: 'fileInfo',
  tag,
  summary: 'Get a file or directory',
  method: 'GET',
  at: '/fs/file_info',
  query: Type.Object({ path: absolutePath('Of the file or directory') }),
  status: 200,
  response: FileInfo,
})

export const createDirectory = control({
  id: 'createDirectory',
  tag,
  summary: 'Create a directory, with those above it',
  method: 'PUT',
  at: '/fs/create_directory',
  kind: 'empty',
  body: Strict({
    path: absolutePath('Of the directory'),
    mode: Type.Optional(mode('Octal permissions; 755 by default')),
  }),
  status: 201,
  errors: writeErrors,
})

export const deleteFile = control({
  id: 'deleteFile',
  tag,
  summary: 'Delete a file',
  method: 'PUT',
  at: '/fs/delete_file',
  kind: 'empty',
  body: Strict({ path: absolutePath('Of the file; a link is deleted itself') }),
  status: 200,
})

export const deleteDirectory = control({
  id: 'deleteDirectory',
  tag,
  summary: 'Delete a directory and all in it; also one that is not there',
  method: 'PUT',
  at: '/fs/delete_directory',
  kind: 'empty',
  body: Strict({ path: absolutePath('Of the directory') }),
  status: 200,
})

export const moveFile = control({
  id: 'moveFile',
  tag,
  summary: 'Move or rename a file or directory; a file takes the place of another',
  method: 'PUT',
  at: '/fs/move',
  kind: 'empty',
  body: Strict({ src_path: absolutePath('Where it is'), dest_path: absolutePath('Where it shall be') }),
  status: 200,
  errors: writeErrors,
})

const account = (what: string) =>
  Type.Optional(
    Type.String({
      maxLength: 255,
      description: `Name or id of the ${what}. An instance has one, kernel (1000); any other is passed over`,
    }),
  )

export const setFilePermissions = control({
  id: 'setFilePermissions',
  tag,
  summary: 'Set the permissions of a file or directory',
  method: 'PUT',
  at: '/fs/set_file_permissions',
  kind: 'empty',
  body: Strict({
    path: absolutePath('Of the file or directory'),
    mode: mode('Octal permissions'),
    owner: account('owner'),
    group: account('group'),
  }),
  status: 200,
})

const fileField = (description: string) =>
  Type.String({ contentMediaType: 'application/octet-stream', examples: ['@file'], description })

export const uploadFiles = control({
  id: 'uploadFiles',
  tag,
  summary: 'Upload files as a form, files[0] and so on; all of them or none',
  method: 'POST',
  at: '/fs/upload',
  kind: 'empty',
  bodyStream: 'multipart',
  form: Type.Object({
    'files[0][dest_path]': absolutePath('Of the file; directories above it are made'),
    'files[0][file]': fileField('Content of the file'),
  }),
  status: 201,
  errors: writeErrors,
})

export const uploadZip = control({
  id: 'uploadZip',
  tag,
  summary: 'Upload a zip archive and unpack it into a directory, all of it or nothing',
  method: 'POST',
  at: '/fs/upload_zip',
  kind: 'empty',
  bodyStream: 'multipart',
  form: Type.Object({
    dest_path: absolutePath('Of the directory; it is made when it is not there'),
    zip_file: fileField('The archive'),
  }),
  status: 201,
  errors: writeErrors,
})

export const downloadDirZip = control({
  id: 'downloadDirZip',
  tag,
  summary: 'Download a directory as a zip archive; links stay links, what is no file is left out',
  method: 'GET',
  at: '/fs/download_dir_zip',
  kind: 'binary',
  contentType: 'application/zip',
  query: Type.Object({ path: absolutePath('Of the directory') }),
  status: 200,
})

export const startWatch = control({
  id: 'startWatch',
  tag,
  summary: 'Watch a directory for changes, until stopped',
  method: 'POST',
  at: '/fs/watch',
  body: Strict({
    path: absolutePath('Of the directory'),
    recursive: Type.Optional(
      Type.Boolean({ default: false, description: 'Also watch the directories in it, and new ones' }),
    ),
  }),
  status: 201,
  response: Type.Object(
    { watch_id: Type.String({ description: 'Id of the watch' }) },
    { title: 'FileWatch' },
  ),
  errors: ['too_many_requests'],
})

const watchParam = { watch_id: resourceId('watch') }

const FileEvent = Type.Object(
  {
    type: OneOf(['CREATE', 'WRITE', 'DELETE', 'RENAME', 'OVERFLOW'] as const, {
      description:
        'RENAME is the old path of what was moved, its new one is in a CREATE. ' +
        'OVERFLOW: changes below the path came too fast and some are not told; look at the directory again',
    }),
    path: Type.String({ description: 'Absolute path of the file or directory' }),
    name: Type.Optional(Type.String({ description: 'Base name' })),
    is_dir: Type.Optional(Type.Boolean({ description: 'Whether it is a directory' })),
  },
  { title: 'FileEvent' },
)

export const watchEvents = control({
  id: 'watchEvents',
  tag,
  summary: 'Follow the changes that a watch sees, from the earliest it has kept',
  method: 'GET',
  at: '/fs/watch/{watch_id}/events',
  kind: 'events',
  params: watchParam,
  status: 200,
  response: FileEvent,
  errors: ['too_many_requests'],
})

export const stopWatch = control({
  id: 'stopWatch',
  tag,
  summary: 'Stop a watch',
  method: 'DELETE',
  at: '/fs/watch/{watch_id}',
  kind: 'empty',
  params: watchParam,
  status: 204,
})
