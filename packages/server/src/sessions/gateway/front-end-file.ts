// Passes a file of the DevTools front end on, from the session's browser to whoever debugs it. The instance is hostile, so
// only the bytes are its own: the server says their type, their limit and what a browser may do with them.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip, constants } from 'node:zlib'
import { AppError } from '../../platform/errors/app-error.ts'
import type { FrontEndFile } from '../session/target.ts'
import { getFromBrowser, type BrowserAnswer } from './browser-request.ts'
import type { GatewaySession } from './session.ts'

/** The largest file of Chromium 156 has 0.8 MB. */
const MAX_FILE_BYTES = 16 * 1024 * 1024

/**
 * Opened by itself, a file has no origin, runs nothing and loads nothing. Scripts and pictures inside the front end
 * follow the policy of its page.
 */
const fileHeaders = {
  'content-security-policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  // The front end has no origin, so its modules are requests of another one. The URL's token is the right to read.
  'access-control-allow-origin': '*',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
} as const

/**
 * Throws for a request by a page of this server itself. The front end has no origin of its own; so this would be another
 * page, and an instance's script must never run in one. Browsers say it on trustworthy origins.
 */
export function checkIsForSandbox({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const isOwnPage = headers['sec-fetch-site'] === 'same-origin'
  if (isOwnPage || headers['sec-fetch-dest'] === 'serviceworker') {
    throw new AppError(
      'forbidden',
      'Cannot load a file of DevTools into another page: open the DevTools link',
    )
  }
}

/** Throws `not_found` for a file that this browser does not have. */
export async function openFile(
  session: GatewaySession,
  { path }: FrontEndFile,
  signal: AbortSignal,
): Promise<BrowserAnswer> {
  const opened = await getFromBrowser(session, path, signal)
  const { statusCode } = opened.answer
  if (statusCode === 200) return opened
  opened.stream.destroy()
  if (statusCode === 404) {
    throw new AppError('not_found', 'Cannot find this file in the DevTools of the session’s browser')
  }
  throw new Error(`The browser answered ${statusCode}`)
}

/** Sends the file at the pace of the client. A file that is too large breaks off. */
export async function sendFile(
  { answer, stream }: BrowserAnswer,
  response: ServerResponse,
  {
    type,
    takesGzip,
    signal,
    maxBytes = MAX_FILE_BYTES,
  }: { type: FrontEndFile['type']; takesGzip: boolean; signal: AbortSignal; maxBytes?: number },
): Promise<void> {
  const isText = /^(?:text|application\/json|image\/svg)/.test(type)
  const compresses = isText && takesGzip
  try {
    response.writeHead(200, {
      ...fileHeaders,
      'content-type': type,
      vary: 'accept-encoding',
      ...(compresses && { 'content-encoding': 'gzip' }),
    })
    // The front end is 10 MB of text; this makes it a third at the least cost.
    const between = compresses ? [createGzip({ level: constants.Z_BEST_SPEED })] : []
    await pipeline([answer, limitTo(maxBytes), ...between, response], { signal })
  } finally {
    stream.destroy()
  }
}

function limitTo(maxBytes: number): Transform {
  let bytes = 0
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      bytes += chunk.length
      if (bytes > maxBytes) done(new Error(`A file of DevTools is larger than ${maxBytes} bytes`))
      else done(null, chunk)
    },
  })
}
