/** What a program is given, and what it must have seen with its generated client. */
export interface Given {
  readonly url: string
  readonly key: string
}

export interface Seen {
  readonly sessionId: string
  /** Of the list: the sessions with the tag, and its header. */
  readonly listed: string[]
  readonly hasMore: string | null
  /** The content of an uploaded file, read back. */
  readonly file: string
  /** What a program in the session printed. */
  readonly printed: string
  readonly picture: Uint8Array
  readonly lines: string[]
  readonly calls: string[]
  /** Numbers of the events; then of those after the first one, from a second stream. */
  readonly numbers: number[]
  readonly resumed: number[]
  readonly ignored: string | null
  readonly missing: { readonly status: number; readonly code: string }
  readonly ended: number
}

export const CONTENT = 'uploaded by a generated client ✓'
export const PATH = '/home/kernel/uploaded.txt'
export const CODE = 'await page.evaluate(() => console.log("said to a generated client")); return 1'
