// The published client, as everybody uses it. The browser adds the cookie of the sign-in, so it needs no key.
import { Kernel } from '@onkernel/sdk'

const PROJECT_HEADER = 'x-kernel-project-id'

/** `projectId`: what an organisation-wide key looks at; undefined for all projects. */
export function newClient(projectId: string | undefined): Kernel {
  return new Kernel({
    // It wants one, and `ownFetch` drops it.
    apiKey: 'the cookie',
    baseURL: location.origin,
    fetch: ownFetch,
    maxRetries: 1,
    ...(projectId !== undefined && { defaultHeaders: { [PROJECT_HEADER]: projectId } }),
  })
}

/** What the client does not know, because it is an extension of Berth. */
export async function ask<Answer>(path: string, init: AskOptions = {}): Promise<Answer> {
  const { projectId, body, headers, ...rest } = init
  const answer = await fetch(path, {
    ...rest,
    headers: {
      accept: 'application/json',
      ...(body !== undefined && !(body instanceof Blob) && { 'content-type': 'application/json' }),
      ...(projectId !== undefined && { [PROJECT_HEADER]: projectId }),
      ...headers,
    },
    ...(body !== undefined && { body: body instanceof Blob ? body : JSON.stringify(body) }),
  })
  if (!answer.ok) throw await refusalOf(answer)
  // SAFETY: the server answers as its contract says.
  return (answer.status === 204 ? undefined : await answer.json()) as Answer
}

export interface AskOptions extends Omit<RequestInit, 'body' | 'headers'> {
  readonly projectId?: string | undefined
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

/** An answer that says no. The errors of the published client have the same fields. */
export class Refusal extends Error {
  readonly status: number
  readonly headers: Headers
  readonly error: { readonly code?: string; readonly message?: string }

  constructor(answer: Response, error: Refusal['error']) {
    super(error.message ?? `The server answered ${answer.status}`)
    this.status = answer.status
    this.headers = answer.headers
    this.error = error
  }
}

export async function refusalOf(answer: Response): Promise<Refusal> {
  const error = (await answer.json().catch(() => ({}))) as Refusal['error']
  return new Refusal(answer, error)
}

/** Some calls of the client go straight to a session, at the public address. Here every call goes to our own origin. */
async function ownFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init)
  request.headers.delete('authorization')
  const url = new URL(request.url)
  if (url.origin === location.origin) return fetch(request)
  return fetch(new Request(location.origin + url.pathname + url.search, request))
}
