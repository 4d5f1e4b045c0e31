import { Buffer } from 'node:buffer'
import { Type } from 'typebox'
import * as contract from '@berth/contracts/files'
import { data, words, type Answer } from '../core/answer.ts'
import { ToolFailure } from '../core/run.ts'
import { cut, LARGEST_TEXT, MAX_TEXT, visible } from '../core/text.ts'
import { manyTool, type Args, type Context } from '../core/tool.ts'
import { fileUri } from '../resources/uris.ts'
import { sessionId } from '../page/fields.ts'
import { text } from './fields.ts'
import { done, given } from './paging.ts'
import { act } from './plain.ts'

/** What is read of a file to show a part of it as text. */
const MAX_READ = 64 * 1024 * 1024
/** In base64 it still fits into an answer that clients take. */
const MAX_EMBEDDED = 3 * 1024 * 1024
const MAX_LISTED = 100

const ofSession = (args: Args) => ({ id: args.session_id as string })
const at = (args: Args) => ({ params: ofSession(args), body: { path: args.path as string } })

/** Stops reading when a file is larger than expected: it may grow while it is read. */
async function bytesOf(response: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk as Uint8Array)
    size += (chunk as Uint8Array).length
    if (size > maxBytes) break
  }
  return Buffer.concat(chunks).subarray(0, maxBytes)
}

async function readText(args: Args, context: Context): Promise<Answer> {
  const response = await context.api.bytes(contract.readFile, {
    params: ofSession(args),
    query: { path: args.path },
  })
  const bytes = await bytesOf(response, MAX_READ)
  const whole = visible(bytes.toString('utf8'))
  if (bytes.subarray(0, 8_000).includes(0)) {
    const where = fileUri(args.session_id, args.path)
    throw new ToolFailure(
      `Cannot show ${args.path} as text: it is binary, ${bytes.length} bytes; use action download, or read the resource ${where} [code: binary]`,
    )
  }
  const start: number = args.offset ?? 0
  const length: number = args.max_chars ?? MAX_TEXT
  const shown = context.secrets.maskKnown(cut(whole, start, length))
  const end = start + length
  const rest =
    end < whole.length
      ? [words(`Characters ${start} to ${end} of ${whole.length}. Go on with offset ${end}.`)]
      : []
  return [data(shown, 'a file of the session'), ...rest]
}

async function download(args: Args, { api }: Context): Promise<Answer> {
  const info = await api.call(contract.fileInfo, { params: ofSession(args), query: { path: args.path } })
  const uri = fileUri(args.session_id, args.path)
  const link: Answer[number] = { type: 'resource_link', uri, name: visible(info.name), size: info.size_bytes }
  if (info.is_dir)
    throw new ToolFailure('Cannot download a directory: use action download_dir_zip [code: bad_request]')
  if (info.size_bytes > MAX_EMBEDDED) {
    return [
      words(
        `The file has ${info.size_bytes} bytes, more than fit into an answer. Read it in pieces with action read, or over the API: GET /browsers/{id}/fs/read_file.`,
      ),
      link,
    ]
  }
  const response = await api.bytes(contract.readFile, { params: ofSession(args), query: { path: args.path } })
  const bytes = await bytesOf(response, MAX_EMBEDDED)
  return [embedded(uri, bytes, 'application/octet-stream')]
}

async function downloadZip(args: Args, { api }: Context): Promise<Answer> {
  const response = await api.bytes(contract.downloadDirZip, {
    params: ofSession(args),
    query: { path: args.path },
  })
  const bytes = await bytesOf(response, MAX_EMBEDDED + 1)
  if (bytes.length > MAX_EMBEDDED) {
    throw new ToolFailure(
      'Cannot send the directory: its archive does not fit into an answer; download single files, or use GET /browsers/{id}/fs/download_dir_zip of the API [code: payload_too_large]',
    )
  }
  return [embedded(`${fileUri(args.session_id, args.path)}.zip`, bytes, 'application/zip')]
}

const embedded = (uri: string, bytes: Buffer, mimeType: string): Answer[number] => ({
  type: 'resource',
  resource: { uri, mimeType, blob: bytes.toString('base64') },
})

function contentOf(args: Args): Buffer {
  if (args.content === undefined && args.content_base64 === undefined) {
    throw new ToolFailure('Cannot write: give "content" or "content_base64" [code: bad_request]')
  }
  return args.content === undefined ? Buffer.from(args.content_base64, 'base64') : Buffer.from(args.content)
}

async function write(args: Args, { api }: Context): Promise<Answer> {
  const bytes = contentOf(args)
  await api.send(
    contract.writeFile,
    { params: ofSession(args), query: given({ path: args.path, mode: args.mode }) },
    bytes,
  )
  return done({ written: args.path, bytes: bytes.length, uri: fileUri(args.session_id, args.path) })
}

async function uploadZip(args: Args, { api }: Context): Promise<Answer> {
  const form = new FormData()
  form.append('dest_path', args.path)
  form.append('zip_file', new Blob([new Uint8Array(contentOf(args))]), 'archive.zip')
  await api.form(contract.uploadZip, { params: ofSession(args) }, form)
  return done({ unpacked_to: args.path })
}

const path = ['path']

export const manageBrowserFiles = manyTool({
  name: 'manage_browser_files',
  title: 'Files of a session',
  toolset: 'files',
  description:
    'Files inside a session. Downloads of pages are in /home/kernel/Downloads. Files are also resources: berth://sessions/{session}/files/{path}. They end with their session.',
  input: {
    session_id: sessionId,
    path: Type.Optional(
      Type.String({ pattern: '^/', maxLength: 4_096, description: 'Absolute path in the session' }),
    ),
    dest_path: Type.Optional(
      Type.String({ pattern: '^/', maxLength: 4_096, description: 'For move: new path' }),
    ),
    content: Type.Optional(Type.String({ description: 'For write and upload: a text' })),
    content_base64: Type.Optional(
      Type.String({ description: 'For write, upload and upload_zip: bytes in base64' }),
    ),
    mode: text('Permissions in octal, such as 644', 4),
    offset: Type.Optional(
      Type.Integer({
        minimum: 0,
        default: 0,
        description: 'For read: where to begin; for list: how many to skip',
      }),
    ),
    max_chars: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LARGEST_TEXT,
        default: MAX_TEXT,
        description: 'For read: how much',
      }),
    ),
  },
  actions: {
    list: {
      does: 'list a directory; without a path, the downloads',
      needs: [contract.listFiles],
      run: async (args: Args, { api }) => {
        const directory: string = args.path ?? '/home/kernel/Downloads'
        const files = await api.call(contract.listFiles, {
          params: ofSession(args),
          query: { path: directory },
        })
        const start: number = args.offset ?? 0
        const shown = files
          .slice(start, start + MAX_LISTED)
          .map(({ name, size_bytes, is_dir, mod_time }) => ({
            name: visible(name),
            size_bytes,
            ...(is_dir && { is_dir }),
            mod_time,
          }))
        const left = files.length - start - shown.length
        return [
          data(JSON.stringify({ path: directory, files: shown }, undefined, 1), 'the session'),
          ...(left > 0 ? [words(`${left} more: go on with offset ${start + shown.length}.`)] : []),
        ]
      },
    },
    get_info: act({
      does: 'show size and time of a file',
      operation: contract.fileInfo,
      requires: path,
      input: (args) => ({ params: ofSession(args), query: { path: args.path } }),
    }),
    read: {
      does: 'read a text file piece by piece',
      needs: [contract.readFile],
      requires: path,
      run: readText,
    },
    download: {
      does: 'get a file as bytes',
      needs: [contract.readFile, contract.fileInfo],
      requires: path,
      run: download,
    },
    download_dir_zip: {
      does: 'get a directory as a zip archive',
      needs: [contract.downloadDirZip],
      requires: path,
      run: downloadZip,
    },
    write: { does: 'write a file', needs: [contract.writeFile], requires: path, run: write },
    upload: { does: 'the same as write', needs: [contract.writeFile], requires: path, run: write },
    upload_zip: {
      does: 'unpack a zip archive into a directory',
      needs: [contract.uploadZip],
      requires: [...path, 'content_base64'],
      run: uploadZip,
    },
    create_directory: act({
      does: 'create a directory',
      operation: contract.createDirectory,
      requires: path,
      input: at,
      said: (args) => ({ created: args.path }),
    }),
    move: act({
      does: 'move or rename',
      operation: contract.moveFile,
      requires: [...path, 'dest_path'],
      input: (args) => ({
        params: ofSession(args),
        body: { src_path: args.path, dest_path: args.dest_path },
      }),
      said: (args) => ({ moved_to: args.dest_path }),
    }),
    delete_file: act({
      does: 'delete a file',
      operation: contract.deleteFile,
      requires: path,
      input: at,
      said: (args) => ({ deleted: args.path }),
    }),
    delete_directory: act({
      does: 'delete a directory with all that is in it',
      operation: contract.deleteDirectory,
      requires: path,
      input: at,
      said: (args) => ({ deleted: args.path }),
    }),
    set_permissions: act({
      does: 'set the permissions of a file',
      operation: contract.setFilePermissions,
      requires: [...path, 'mode'],
      input: (args) => ({ params: ofSession(args), body: { path: args.path, mode: args.mode } }),
      said: (args) => ({ changed: args.path }),
    }),
  },
})
