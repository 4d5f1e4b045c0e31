// Chromium's user-data directory, which a profile stores.
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { AgentClient } from './client.ts'
import { AgentError } from './errors.ts'

const WRITE_TIMEOUT_MS = 120_000

/** Stops Chromium and returns the directory as a tar. The caller limits the size and checks the content. */
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

/** Replaces the directory with the content of a zstd-compressed tar. A running Chromium is restarted and is ready when this resolves. */
export async function writeUserData(
  agent: AgentClient,
  content: Readable,
  { bytes, tabs, signal }: WriteUserData,
): Promise<void> {
  // Content that breaks off must not look like shorter content.
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
    throw new AgentError(`Cannot load the profile into the instance: ${error.message}`, { cause: error })
  }
}

/** From now on, tabs and session cookies survive a restart of Chromium. */
export async function keepTabs(
  agent: AgentClient,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<void> {
  await agent.call({ purpose: 'management', method: 'POST', path: '/profile/keep', signal })
}
