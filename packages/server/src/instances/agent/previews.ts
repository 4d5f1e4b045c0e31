// Small pictures of what the session shows.
import { PREVIEW_PATH } from '@berth/contracts/link'
import { MAX_PREVIEW_BYTES } from '@berth/contracts/previews'
import { jpegSize } from '@berth/codecs/video/jpeg-size'
import { readBytes } from './answers.ts'
import type { AgentClient } from './client.ts'
import { AgentError } from './errors.ts'

const MAX_VERSION_LENGTH = 64
/** Tall pages make tall pictures. */
const MAX_HEIGHT_PER_WIDTH = 4

export interface Preview {
  readonly jpeg: Buffer
  /** The agent's own name for the picture. */
  readonly version: string
}

export interface PreviewWanted {
  readonly width: number
  /** The version of the last one. */
  readonly known: string | undefined
  readonly signal: AbortSignal
}

/** Undefined if the picture is still the known one. */
export async function readPreview(
  agent: AgentClient,
  { width, known, signal }: PreviewWanted,
): Promise<Preview | undefined> {
  const path = `${PREVIEW_PATH}?width=${width}`
  const answer = await agent.open({
    purpose: 'work',
    method: 'GET',
    path,
    headers: known === undefined ? {} : { 'if-none-match': known },
    signal,
  })
  const jpeg = await readBytes(answer, { path, maxBytes: MAX_PREVIEW_BYTES })
  if (answer.statusCode === 204) return undefined
  const { etag: version = '' } = answer.headers
  if (version.length > MAX_VERSION_LENGTH) throw new AgentError('The agent named a picture at length')
  const size = jpegSize(jpeg)
  // A browser would decode whatever size the picture claims to have.
  if (!size || size.width > width || size.height > width * MAX_HEIGHT_PER_WIDTH) {
    throw new AgentError(`The agent sent no picture of at most ${width} pixels`)
  }
  return { jpeg, version }
}
