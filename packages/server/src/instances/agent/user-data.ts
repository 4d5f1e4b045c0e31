// The user-data directory of Chromium, which is what a profile keeps.
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { AgentClient } from './client.ts'
import { AgentError } from './errors.ts'

const WRITE_TIMEOUT_MS = 120_000

/** The directory as tar. Chromium is ended for it. The size and the content are for the caller to bound and to check. */
export async function readUserData(
  agent: AgentClient,
  then: 'stay' | 'reopen',
  { signal }: { signal: AbortSignal },
): Promise<IncomingMessage> {
  return agent.open({ purpose: 'work', method: 'GET', path: `/profile?then=${then}`, signal })
}

export interface WriteUserData {
  readonly bytes: number
  readonly tabs: 'keep' | 'drop'
  readonly signal?: AbortSignal | undefined
}

/** Replaces the directory by a tar that is compressed with zstd. A Chromium that runs is started again on it, and ready when this resolves. */
export async function writeUserData(
  agent: AgentClient,
  content: Readable,
  { bytes, tabs, signal }: WriteUserData,
): Promise<void> {
  // A content that cannot be read to its end must not look like a shorter one.
  const broken = new AbortController()
  content.once('error', (error) => broken.abort(error))
  try {
    await agent.call({
      purpose: 'work',
      method: 'PUT',
      path: `/profile?tabs=${tabs}`,
      headers: { 'content-type': 'application/zstd', 'content-length': bytes },
      body: content,
      timeoutMs: WRITE_TIMEOUT_MS,
      signal: signal ? AbortSignal.any([signal, broken.signal]) : broken.signal,
    })
  } catch (error) {
    if (!(error instanceof AgentError) || error.status === undefined) throw error
    throw new AgentError(`Cannot bring the profile in: ${error.message}`, { cause: error })
  }
}

/** From now on tabs and session cookies outlive a restart of Chromium. */
export async function keepTabs(
  agent: AgentClient,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<void> {
  await agent.call({ purpose: 'management', method: 'POST', path: '/profile/keep', signal })
}
