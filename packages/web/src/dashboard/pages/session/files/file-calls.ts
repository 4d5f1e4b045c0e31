// What the tab does with files.
import type { Kernel } from '@onkernel/sdk'
import { Refusal } from '../../../api/client.ts'

export interface FileEntry {
  readonly name: string
  readonly path: string
  readonly size_bytes: number
  readonly is_dir: boolean
  readonly mod_time: string
}

export async function listFolder(
  client: Kernel,
  id: string,
  path: string,
  signal: AbortSignal,
): Promise<FileEntry[]> {
  const found = (await client.browsers.fs.listFiles(id, { path }, { signal })) as FileEntry[]
  return found.toSorted(
    (one, other) => Number(other.is_dir) - Number(one.is_dir) || one.name.localeCompare(other.name),
  )
}

export const join = (folder: string, name: string) => `${folder === '/' ? '' : folder}/${name}`
export const parentOf = (path: string) => path.slice(0, path.lastIndexOf('/')) || '/'

export interface Upload {
  readonly url: string
  readonly file: File
  readonly projectId: string | undefined
  readonly signal: AbortSignal
  readonly onProgress: (share: number) => void
}

/** Only the older interface says how far an upload is. */
export function upload({ url, file, projectId, signal, onProgress }: Upload): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('PUT', url)
    request.setRequestHeader('content-type', 'application/octet-stream')
    if (projectId !== undefined) request.setRequestHeader('x-kernel-project-id', projectId)
    request.upload.addEventListener('progress', ({ loaded, total }) =>
      onProgress(total > 0 ? loaded / total : 0),
    )
    request.addEventListener('load', () => {
      if (request.status < 300) return resolve()
      reject(refusalOf(request))
    })
    request.addEventListener('error', () => reject(new Error('The connection was lost')))
    request.addEventListener('abort', () => reject(new DOMException('Cancelled', 'AbortError')))
    signal.addEventListener('abort', () => request.abort(), { once: true })
    request.send(file)
  })
}

function refusalOf({ status, responseText }: XMLHttpRequest): Refusal {
  let error: Refusal['error'] = {}
  try {
    error = JSON.parse(responseText) as Refusal['error']
  } catch {
    // The answer is not from the API.
  }
  return new Refusal(new Response(null, { status }), error)
}
