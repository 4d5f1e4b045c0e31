// Asks one other server to start a session, and holds the connection until the asker is done with it.
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { LineSplitter } from '@berth/kit/lines'
import { AppError } from '../../platform/errors/app-error.ts'
import {
  MAX_LINE_BYTES,
  readNews,
  START_PATH,
  toContentDigest,
  toError,
  type StartNews,
} from './start-request.ts'
import { trust } from './trust.ts'

/** A server that is gone must not cost the caller's patience. */
const CONNECT_TIMEOUT_MS = 2_000
/** It says every second that it is still there. */
const SILENCE_TIMEOUT_MS = 10_000

export interface Ask {
  /** Such as http://10.0.0.5:8080. */
  readonly address: string
  readonly body: Buffer
  readonly digest: string
  readonly token: string
  /** The certificate of this server. */
  readonly certificate: Buffer | undefined
  readonly signal: AbortSignal | undefined
}

/** The other server says that it has not started the session. */
export class Refused extends Error {
  /** Undefined when this version does not know it. */
  readonly error: AppError | undefined

  constructor(message: string, error?: AppError) {
    super(message)
    this.error = error
  }
}

export interface HeldStart {
  readonly lost: AbortSignal
  release(): void
}

/** Rejects with Refused, or with any other error when it is not known what the other server did. */
export function askToStart({ address, body, digest, token, certificate, signal }: Ask): Promise<HeldStart> {
  const url = new URL(START_PATH, address)
  const isTls = url.protocol === 'https:'
  const answer = Promise.withResolvers<HeldStart>()
  const lost = new AbortController()
  const held = { lost: lost.signal, release: () => void request.destroy() }
  const fail = (error: Error) => {
    answer.reject(error)
    lost.abort(
      new AppError('unavailable', 'Cannot create a session: the server that started it is gone; try again', {
        cause: error,
      }),
    )
    request.destroy()
  }
  const hear = (news: StartNews | undefined) => {
    if (!news) return fail(new Error('it answered something else'))
    if ('started' in news) return answer.resolve(held)
    fail(new Refused(news.failed.message, toError(news.failed)))
  }
  const request = (isTls ? httpsRequest : httpRequest)(url, {
    method: 'POST',
    agent: false,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': body.length,
      'content-digest': toContentDigest(digest),
    },
    ...(signal && { signal }),
    ...(isTls && trust(certificate)),
  })
  const connecting = setTimeout(() => fail(new Error('it does not answer')), CONNECT_TIMEOUT_MS)
  request.once('close', () => clearTimeout(connecting))
  request.once('socket', (socket) => {
    socket.setNoDelay(true)
    socket.once(isTls ? 'secureConnect' : 'connect', () => clearTimeout(connecting))
  })
  request.setTimeout(SILENCE_TIMEOUT_MS, () => fail(new Error('it fell silent')))
  request.on('error', fail)
  request.once('response', (response: IncomingMessage) => {
    response.on('error', fail)
    response.once('close', () => fail(new Error('it closed the connection')))
    if (response.statusCode !== 200) return fail(new Refused(`it answered ${response.statusCode}`))
    const lines = new LineSplitter({ maxBytes: MAX_LINE_BYTES })
    response.on('data', (piece: Buffer) => {
      try {
        for (const line of lines.split(piece)) if (line.length > 0) hear(readNews(line))
      } catch (error) {
        fail(error as Error)
      }
    })
  })
  request.end(body)
  return answer.promise
}
