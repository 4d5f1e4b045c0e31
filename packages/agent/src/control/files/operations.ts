import { chmod, mkdir, stat } from 'node:fs/promises'
import { checked } from '../../checks/check.ts'
import type { ControlOperation } from '../calls/operation.ts'
import { describe, list } from './describe.ts'
import { downloadZip } from './download-zip.ts'
import { move } from './move.ts'
import { cleanPath } from './disk/paths.ts'
import { checks } from './files.checks.ts'
import { setPermissions } from './permissions.ts'
import { refuse } from './disk/refusal.ts'
import { readWhole } from './disk/regular-file.ts'
import { deleteDirectory, deleteFile } from './remove.ts'
import { upload } from './upload.ts'
import { uploadZip } from './upload-zip.ts'
import { Watches } from './watch/watches.ts'
import { writeWhole } from './disk/write.ts'

const pathIn = (query: URLSearchParams) => cleanPath(query.get('path')!)

const watches = new Watches()

export const fileOperations: readonly ControlOperation[] = [
  {
    method: 'GET',
    path: '/fs/read_file',
    handle: ({ query }) => readWhole(pathIn(query)),
  },
  {
    method: 'PUT',
    path: '/fs/write_file',
    takesStream: true,
    handle: ({ request, query }) => {
      const mode = query.get('mode')
      return writeWhole(request, {
        path: query.get('path')!,
        mode: mode === null ? undefined : Number.parseInt(mode, 8),
      })
    },
  },
  {
    method: 'GET',
    path: '/fs/list_files',
    handle: ({ query }) => list(pathIn(query)),
  },
  {
    method: 'GET',
    path: '/fs/file_info',
    handle: async ({ query }) => {
      const path = pathIn(query)
      return describe(path, await stat(path).catch(refuse(path)))
    },
  },
  {
    method: 'PUT',
    path: '/fs/create_directory',
    handle: async ({ body }) => {
      const { path: text, mode = '755' } = checked(checks.createDirectory, body)
      const path = cleanPath(text)
      const made = await mkdir(path, { recursive: true, mode: 0o755 }).catch(refuse(path))
      // Parents keep the default mode; otherwise it might be impossible to enter them.
      if (made !== undefined) await chmod(path, Number.parseInt(mode, 8)).catch(refuse(path))
    },
  },
  {
    method: 'PUT',
    path: '/fs/delete_file',
    handle: ({ body }) => deleteFile(checked(checks.deleteFile, body).path),
  },
  {
    method: 'PUT',
    path: '/fs/delete_directory',
    handle: ({ body, signal }) => deleteDirectory(checked(checks.deleteDirectory, body).path, signal),
  },
  {
    method: 'PUT',
    path: '/fs/move',
    handle: ({ body, signal }) => {
      const { src_path, dest_path } = checked(checks.moveFile, body)
      return move(src_path, dest_path, signal)
    },
  },
  {
    method: 'PUT',
    path: '/fs/set_file_permissions',
    handle: ({ body }) => setPermissions(checked(checks.setFilePermissions, body)),
  },
  {
    method: 'POST',
    path: '/fs/upload',
    takesStream: true,
    handle: upload,
  },
  {
    method: 'POST',
    path: '/fs/upload_zip',
    takesStream: true,
    handle: uploadZip,
  },
  {
    method: 'GET',
    path: '/fs/download_dir_zip',
    handle: ({ query, signal }) => downloadZip(query.get('path')!, signal),
  },
  {
    method: 'POST',
    path: '/fs/watch',
    handle: async ({ body }) => ({ watch_id: await watches.start(checked(checks.startWatch, body)) }),
  },
  {
    method: 'GET',
    path: '/fs/watch/{watch_id}/events',
    handle: ({ params, signal }) => ({ events: watches.read(params['watch_id']!, signal) }),
  },
  {
    method: 'DELETE',
    path: '/fs/watch/{watch_id}',
    handle: ({ params }) => watches.stop(params['watch_id']!),
  },
]
