// Sends a file and says how far it is, which `fetch` cannot.
import { Refusal } from './client.ts'

export interface UploadOptions {
  readonly method: 'POST' | 'PUT'
  readonly body: Blob | FormData
  readonly projectId: string | undefined
  readonly signal: AbortSignal
  /** From 0 to 1; at 1 the server works on it. */
  readonly onProgress: (part: number) => void
}

export function upload<Answer>(path: string, options: UploadOptions): Promise<Answer> {
  const { method, body, projectId, signal, onProgress } = options
  return new Promise<Answer>((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open(method, path)
    request.setRequestHeader('accept', 'application/json')
    if (body instanceof Blob) request.setRequestHeader('content-type', 'application/octet-stream')
    if (projectId !== undefined) request.setRequestHeader('x-kernel-project-id', projectId)
    request.responseType = 'json'
    request.upload.addEventListener('progress', ({ loaded, total }) => {
      onProgress(total === 0 ? 0 : loaded / total)
    })
    request.addEventListener('load', () => {
      if (request.status < 400) resolve(request.response as Answer)
      else reject(refusalOfRequest(request))
    })
    request.addEventListener('error', () => reject(new TypeError('Network error')))
    request.addEventListener('abort', () => reject(new DOMException('It was cancelled', 'AbortError')))
    signal.addEventListener('abort', () => request.abort(), { once: true })
    request.send(body)
  })
}

function refusalOfRequest(request: XMLHttpRequest): Refusal {
  const requestId = request.getResponseHeader('x-request-id')
  const headers = new Headers(requestId === null ? {} : { 'x-request-id': requestId })
  return new Refusal(
    new Response(null, { status: request.status, headers }),
    (request.response ?? {}) as Refusal['error'],
  )
}
