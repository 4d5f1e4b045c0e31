// Files of an instance. They are deleted when the session ends.
import { Type } from 'typebox'
import { absolutePath, control } from './control.ts'
import { OneOf, resourceId, Strict } from './schema.ts'

const tag = 'Files'

const mode = (description: string) => Type.String({ pattern: '^[0-7]{3,4}$', examples: ['755'], description })

/** Errors that every write operation may return. */
const writeErrors = ['insufficient_storage'] as const

const FileInfo = Type.Object(
  {
    name: Type.String({ description: 'Base name' }),
    path: Type.String({ description: 'Absolute path' }),
    size_bytes: Type.Integer({ description: 'Size in bytes; 0 for directories' }),
    is_dir: Type.Boolean({ description: 'Whether it is a directory' }),
    mod_time: Type.String({ format: 'date-time', description: 'When it was last changed' }),
    mode: Type.String({ description: 'File mode, such as "-rw-r--r--"' }),
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
  query: Type.Object({ path: absolutePath('Path of the file') }),
  status: 200,
})

export const writeFile = control({
  id: 'writeFile',
  tag,
  summary: 'Write the request body to a file; a failed write leaves the old file unchanged',
  method: 'PUT',
  at: '/fs/write_file',
  kind: 'empty',
  query: Type.Object({
    path: absolutePath('Path of the file; missing parent directories are created'),
    mode: Type.Optional(mode('Octal permissions; by default those of the replaced file, or 644')),
  }),
  bodyStream: 'bytes',
  status: 201,
  errors: writeErrors,
})

export const listFiles = control({
  id: 'listFiles',
  tag,
  summary: 'List a directory, sorted by name',
  method: 'GET',
  at: '/fs/list_files',
  query: Type.Object({ path: absolutePath('Path of the directory') }),
  status: 200,
  response: Type.Array(FileInfo),
})

export const fileInfo = control({
  id: 'fileInfo',
  tag,
  summary: 'Get information about a file or directory',
  method: 'GET',
  at: '/fs/file_info',
  query: Type.Object({ path: absolutePath('Path of the file or directory') }),
  status: 200,
  response: FileInfo,
})

export const createDirectory = control({
  id: 'createDirectory',
  tag,
  summary: 'Create a directory and its missing parents',
  method: 'PUT',
  at: '/fs/create_directory',
  kind: 'empty',
  body: Strict({
    path: absolutePath('Path of the directory'),
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
  body: Strict({ path: absolutePath('Path of the file. For a symbolic link, the link itself is deleted') }),
  status: 200,
})

export const deleteDirectory = control({
  id: 'deleteDirectory',
  tag,
  summary: 'Delete a directory and its contents; succeeds if it does not exist',
  method: 'PUT',
  at: '/fs/delete_directory',
  kind: 'empty',
  body: Strict({ path: absolutePath('Path of the directory') }),
  status: 200,
})

export const moveFile = control({
  id: 'moveFile',
  referenceIds: ['movePath'],
  tag,
  summary: 'Move or rename a file or directory; a file replaces an existing file',
  method: 'PUT',
  at: '/fs/move',
  kind: 'empty',
  body: Strict({ src_path: absolutePath('Current path'), dest_path: absolutePath('New path') }),
  status: 200,
  errors: writeErrors,
})

const account = (what: string) =>
  Type.Optional(
    Type.String({
      maxLength: 255,
      description: `Name or id of the ${what}. An instance only has kernel (1000); other values are ignored`,
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
    path: absolutePath('Path of the file or directory'),
    mode: mode('Octal permissions'),
    owner: account('owner'),
    group: account('group'),
  }),
  status: 200,
})

const fileField = (description: string) =>
  Type.String({
    format: 'binary',
    contentMediaType: 'application/octet-stream',
    examples: ['@file'],
    description,
  })

export const uploadFiles = control({
  id: 'uploadFiles',
  tag,
  summary: 'Upload files as a form (files[0] and so on); stores all of them or none',
  method: 'POST',
  at: '/fs/upload',
  kind: 'empty',
  bodyStream: 'multipart',
  form: Type.Object(
    {
      'files[0][dest_path]': absolutePath('Path of the file; missing parent directories are created'),
      'files[0][file]': fileField('Content of the file'),
    },
    // The further files: files[1][dest_path] and so on.
    { additionalProperties: true },
  ),
  status: 201,
  errors: writeErrors,
})

export const uploadZip = control({
  id: 'uploadZip',
  tag,
  summary: 'Upload a zip archive and unpack it into a directory, completely or not at all',
  method: 'POST',
  at: '/fs/upload_zip',
  kind: 'empty',
  bodyStream: 'multipart',
  form: Type.Object({
    dest_path: absolutePath('Path of the directory; created if it does not exist'),
    zip_file: fileField('Zip archive'),
  }),
  status: 201,
  errors: writeErrors,
})

export const downloadDirZip = control({
  id: 'downloadDirZip',
  tag,
  summary: 'Download a directory as a zip archive; keeps symbolic links, skips special files',
  method: 'GET',
  at: '/fs/download_dir_zip',
  kind: 'binary',
  contentType: 'application/zip',
  query: Type.Object({ path: absolutePath('Path of the directory') }),
  status: 200,
})

export const startWatch = control({
  id: 'startWatch',
  referenceIds: ['startFsWatch'],
  tag,
  summary: 'Start watching a directory for changes',
  method: 'POST',
  at: '/fs/watch',
  body: Strict({
    path: absolutePath('Path of the directory'),
    recursive: Type.Optional(
      Type.Boolean({ default: false, description: 'Watch subdirectories too, including new ones' }),
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
        '`RENAME` has the old path of a moved file; a `CREATE` has the new path. ' +
        '`OVERFLOW`: changes below the path came too fast and some are missing; list the directory again',
    }),
    path: Type.String({ description: 'Absolute path of the file or directory' }),
    name: Type.Optional(Type.String({ description: 'Base name' })),
    is_dir: Type.Optional(Type.Boolean({ description: 'Whether it is a directory' })),
  },
  { title: 'FileEvent' },
)

export const watchEvents = control({
  id: 'watchEvents',
  referenceIds: ['streamFsEvents'],
  tag,
  summary: 'Follow the changes of a watch, starting with the oldest stored event',
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
  referenceIds: ['stopFsWatch'],
  tag,
  summary: 'Stop a watch',
  method: 'DELETE',
  at: '/fs/watch/{watch_id}',
  kind: 'empty',
  params: watchParam,
  status: 204,
})
