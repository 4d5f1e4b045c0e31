// The file of a session, for who sends it. Without the schemas, so that a page loads little.
import type { GivenCookie, ImportSessionRequest } from './session-import.ts'

/** Below what the agent reads, with room for what JSON adds. */
export const MAX_IMPORT_BYTES = 4 * 1024 * 1024

/** Which of the formats a file has. A file that is none of them is an Error with what it should be. */
export function importRequestOf(text: string): ImportSessionRequest {
  const trimmed = text.replace(/^\uFEFF/, '').trimStart()
  if (trimmed.startsWith('{') || trimmed.startsWith('[')) {
    let read: unknown
    try {
      read = JSON.parse(trimmed)
    } catch (error) {
      throw new Error(`The file is not JSON: ${(error as Error).message}`, { cause: error })
    }
    // SAFETY: the server checks the whole of it.
    if (Array.isArray(read)) return { cookies: read as GivenCookie[] }
    return { storage_state: read as NonNullable<ImportSessionRequest['storage_state']> }
  }
  if (/^(#|[^\t\n]+\t(TRUE|FALSE)\t)/i.test(trimmed)) return { cookies_txt: trimmed }
  throw new Error(
    "The file is none of Playwright's storageState (JSON), a list of cookies (JSON) and cookies.txt",
  )
}
