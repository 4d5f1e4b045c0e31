// Reading a key: from a question or from stdin, and never from an argument.
import { text } from 'node:stream/consumers'
import { Failure, usage } from '../basics/failure.ts'
import { exitCodes } from '../basics/exit-codes.ts'
import { askSecret } from '../output/questions.ts'
import type { Terminal } from '../output/terminal.ts'
import { Api } from '../api/api.ts'
import type { Server } from '../contexts/server.ts'

export async function readKey(
  terminal: Terminal,
  { fromStdin, url }: { fromStdin: boolean; url: string },
): Promise<string> {
  // A pipe on stdin is a key; without one a person is asked.
  const given =
    fromStdin || !process.stdin.isTTY
      ? await text(process.stdin)
      : await askSecret(terminal, `API key of ${url}`)
  const key = given.trim()
  if (key === '') throw usage('Cannot log in: the key is empty', 'Type it, or pipe it in: berth login < file')
  if (/[^\x21-\x7e]/.test(key)) throw usage('Cannot log in: a key has no spaces and no special characters')
  return key
}

export interface KeyFacts {
  readonly authentication?: { readonly method?: string; readonly credential_id?: string }
  readonly principal?: { readonly type?: string }
  readonly authorization?: { readonly effective_scope?: unknown }
}

/** Asks the server, so that a wrong key is not stored. */
export async function checkKey(server: Server, signal: AbortSignal): Promise<KeyFacts> {
  try {
    return await new Api(server, signal).call<KeyFacts>('getAuthContext')
  } catch (error) {
    if ((error as { status?: number }).status !== 401) throw error
    throw new Failure(`Cannot log in to ${server.url}: the server does not know this key`, {
      exitCode: exitCodes.denied,
      remedy:
        'Nothing was stored. A key of the first start is in .berth/api-key of the server; others are made with "berth api-keys create"',
    })
  }
}

export const masked = (key: string) => (key.length > 12 ? `${key.slice(0, 6)}…${key.slice(-4)}` : '…')
