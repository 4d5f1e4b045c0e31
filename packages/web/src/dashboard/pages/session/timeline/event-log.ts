// All events of one session: first those that are stored, then those that come.
import type { TelemetryEvent } from '@berth/contracts/telemetry'
import { followSse } from '@berth/kit/sse-follow'
import { refusalOf } from '../../../api/client.ts'
import { isFinal } from '../../../api/problem.ts'
import { Exchanges } from './exchanges.ts'
import { lineOf, type Line } from './event.ts'
import { linesOfAnswer } from './lines.ts'

const MAX_LINES = 100_000
/** Dropped at once, so that it happens seldom. */
const DROPPED = 10_000
/** A screenshot of a large window. */
const MAX_EVENT_LENGTH = 16 * 1024 * 1024
const FIRST_WAIT_MS = 500
const MAX_WAIT_MS = 10_000
const TELL_MS = 100
/** To show many thousands of lines takes time, too, so it happens less often while they are read. */
const MAX_TELL_MS = 1_000

export type LogState = 'reading' | 'live' | 'complete' | 'away'

export interface LogView {
  readonly lines: readonly Line[]
  readonly exchanges: readonly Exchange[]
  readonly state: LogState
  readonly error: unknown
  /** Whether older events were left out. */
  readonly isCut: boolean
}
type Exchange = Exchanges['list'][number]

export class EventLog {
  readonly #path: string
  readonly #headers: Record<string, string>
  readonly #over = new AbortController()
  readonly #listeners = new Set<() => void>()
  readonly #exchanges = new Exchanges()
  #lines: Line[] = []
  #lastSeq = 0
  #isCut = false
  #state: LogState = 'reading'
  #error: unknown
  #view: LogView
  #timer: ReturnType<typeof setTimeout> | undefined

  /** `path`: of the session's telemetry. */
  constructor(path: string, projectId: string | undefined) {
    this.#path = path
    this.#headers = projectId === undefined ? {} : { 'x-kernel-project-id': projectId }
    this.#view = this.#look()
  }

  get view(): LogView {
    return this.#view
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  close(): void {
    this.#over.abort()
    clearTimeout(this.#timer)
  }

  /** `follows`: whether more can come. Ends when the log is closed. */
  async read({ follows }: { follows: boolean }): Promise<void> {
    let waitMs = FIRST_WAIT_MS
    while (!this.#over.signal.aborted) {
      const began = performance.now()
      try {
        await this.#readStored()
        if (!follows) return this.#change('complete')
        await whileVisible(this.#over.signal, (signal) => this.#follow(signal))
        if (performance.now() - began > MAX_WAIT_MS) waitMs = FIRST_WAIT_MS
        // The stream ended with the session, or the page was hidden: the rest is read from what is stored.
      } catch (error) {
        if (this.#over.signal.aborted) return
        this.#error = error
        this.#change('away')
        if (isFinal(error)) return
      }
      await pause(waitMs, this.#over.signal)
      waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)
    }
  }

  async #readStored(): Promise<void> {
    const url = `${this.#path}/ndjson?brief=true&after=${this.#lastSeq}`
    const answer = await fetch(url, { headers: this.#headers, signal: this.#over.signal })
    if (!answer.ok) throw await refusalOf(answer)
    for await (const events of linesOfAnswer<TelemetryEvent>(answer)) {
      for (const event of events) this.#add(event)
      this.#soon()
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const from = this.#lastSeq === 0 ? '?replay=all' : ''
    const headers = { ...this.#headers, ...(from === '' && { 'last-event-id': String(this.#lastSeq) }) }
    const answer = await fetch(`${this.#path}/stream${from}`, { headers, signal })
    // It ended between the two requests.
    if (answer.status === 404 || answer.status === 409) return
    if (!answer.ok) throw await refusalOf(answer)
    this.#error = undefined
    this.#change('live')
    for await (const { data } of followSse(answer.body!, { maxLength: MAX_EVENT_LENGTH })) {
      this.#add(JSON.parse(data) as TelemetryEvent)
      this.#soon()
    }
  }

  #add(event: TelemetryEvent): void {
    if (event.seq <= this.#lastSeq) return
    this.#lastSeq = event.seq
    this.#lines.push(lineOf(event))
    this.#exchanges.add(event)
    if (this.#lines.length <= MAX_LINES) return
    this.#lines.splice(0, DROPPED)
    this.#isCut = true
    this.#exchanges.dropBefore(this.#lines[0]!.seq)
  }

  #change(state: LogState): void {
    this.#state = state
    this.#tell()
  }

  /** Many events at once are shown at once; the first ones without a wait. */
  #soon(): void {
    if (this.#view.lines.length === 0) return this.#tell()
    const waitMs = Math.min(Math.max(TELL_MS, this.#lines.length / 30), MAX_TELL_MS)
    this.#timer ??= setTimeout(() => this.#tell(), this.#state === 'reading' ? waitMs : TELL_MS)
  }

  #tell(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#view = this.#look()
    for (const listener of this.#listeners) listener()
  }

  #look(): LogView {
    return {
      lines: [...this.#lines],
      exchanges: [...this.#exchanges.list],
      state: this.#state,
      error: this.#error,
      isCut: this.#isCut,
    }
  }
}

/** An open stream keeps the session alive, so a page that nobody sees has none. */
async function whileVisible(signal: AbortSignal, run: (signal: AbortSignal) => Promise<void>): Promise<void> {
  await visible(signal)
  if (signal.aborted) return
  const hidden = new AbortController()
  const onChange = () => {
    if (document.hidden) hidden.abort()
  }
  const onOver = () => hidden.abort()
  document.addEventListener('visibilitychange', onChange)
  signal.addEventListener('abort', onOver)
  try {
    await run(hidden.signal)
  } catch (error) {
    if (!hidden.signal.aborted) throw error
  } finally {
    document.removeEventListener('visibilitychange', onChange)
    signal.removeEventListener('abort', onOver)
  }
  await visible(signal)
}

function visible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = new AbortController()
    const look = () => {
      if (document.hidden && !signal.aborted) return
      done.abort()
      resolve()
    }
    document.addEventListener('visibilitychange', look, { signal: done.signal })
    signal.addEventListener('abort', look, { signal: done.signal })
    look()
  })
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
