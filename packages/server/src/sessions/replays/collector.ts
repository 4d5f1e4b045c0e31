// Reads the records of one recording from the agent and appends them to its journal, after those of an earlier
// server. It holds the session all the time.
import type { Logger } from 'pino'
import type { ReplayEnd } from '@berth/contracts/replays'
import { pause } from '@berth/kit/pause'
import { toFrame } from '@berth/codecs/frames/frames'
import type { LiveSession } from '../browsers/live-session.ts'
import { AgentClient } from '../../instances/agent/client.ts'
import { AgentError, AgentRefusal } from '../../instances/agent/errors.ts'
import { forgetRecording, readRecords, stopRecording } from '../../instances/agent/recordings.ts'
import type { Journal } from './journal.ts'
import { newSplitter, RecordReader, WrongRecord } from './records.ts'

const RETRY_MS = 500
/** Time for the last records when the recording or its session ends. */
const LAST_RECORDS_MS = 4_000
const FORGET_MS = 2_000
const LATE_MS = 10_000
/** A recording is measured when it has grown by so much, and not more often than this. */
const MEASURE_BYTES = 256 * 1024
const MEASURE_MS = 2_000

export interface CollectorOptions {
  readonly replayId: string
  readonly startedAt: Date
  readonly session: LiveSession
  readonly journal: Journal
  readonly maxBytes: number
  /** Null records until it is stopped. */
  readonly maxMs: number | null
  /** Told the size of the journal; resolves to whether the project may store more. */
  readonly measure: (bytes: number) => Promise<boolean>
  readonly log: Logger
}

export class Collector {
  readonly #options: CollectorOptions
  /** Separate from the session's client, which disconnects before the last records arrive. */
  readonly #agent: AgentClient
  readonly #reader = new RecordReader()
  readonly #stopping = new AbortController()
  #reason: ReplayEnd | undefined
  #measured = { bytes: 0, at: -Infinity }
  #isMeasuring = false
  /** Resolves with the end reason; undefined when the next server continues. */
  readonly done: Promise<ReplayEnd | undefined>

  constructor(options: CollectorOptions) {
    this.#options = options
    this.#agent = new AgentClient(options.session.instance)
    this.done = this.#run()
  }

  get sessionId(): string {
    return this.#options.session.id
  }

  /** Ends the recording for this reason. */
  end(reason: ReplayEnd): void {
    if (this.#reason) return
    this.#reason = reason
    const deadline = setTimeout(() => this.#stopping.abort(), LAST_RECORDS_MS)
    void this.done.finally(() => clearTimeout(deadline))
    stopRecording(this.#agent, this.#options.replayId).catch(() => this.#stopping.abort())
  }

  /** Leaves the running recording to the next server. */
  leave(): void {
    this.#stopping.abort()
  }

  async #run(): Promise<ReplayEnd | undefined> {
    const { journal, session, log, replayId } = this.#options
    const hold = session.hold()
    void session.instance.ended.then(() => this.#stopping.abort())
    let reason: ReplayEnd | undefined
    try {
      await journal.open((plain) => void this.#read(plain, Infinity))
      reason = this.#reader.isOver ? 'stopped' : await this.#collect()
    } catch (error) {
      log.warn({ err: error, replayId }, 'a recording failed')
      reason = this.#reason ?? 'failed'
    }
    await journal.close().catch(() => {})
    // The next server still needs a recording that was only left to it.
    if (reason && !this.#stopping.signal.aborted) {
      const signal = AbortSignal.timeout(FORGET_MS)
      await forgetRecording(this.#agent, replayId, { signal }).catch(() => {})
    }
    this.#agent.close()
    hold[Symbol.dispose]()
    return reason
  }

  async #collect(): Promise<ReplayEnd | undefined> {
    const { journal, replayId, startedAt, maxBytes, maxMs, session } = this.#options
    const { signal } = this.#stopping
    while (!signal.aborted) {
      let answer: Buffer
      try {
        answer = await readRecords(this.#agent, { id: replayId, after: this.#reader.lastNumber }, { signal })
      } catch (error) {
        if (signal.aborted) break
        if (error instanceof AgentRefusal) return this.#reason ?? 'interrupted'
        if (!(error instanceof AgentError)) throw error
        await pause(RETRY_MS, signal)
        continue
      }
      const { accepted, ended, wrong } = this.#read(answer, Date.now() - startedAt.getTime())
      if (accepted.length > 0) await journal.append(accepted)
      if (wrong) throw wrong
      if (ended) return this.#reason ?? ended
      if (journal.bytes > maxBytes) this.end('size_limit')
      // Not awaited: a slow database must not delay the records.
      void this.#measure()
      // The agent enforces the limit precisely; this check is for an agent that does not.
      if (maxMs !== null && Date.now() - startedAt.getTime() > maxMs + LATE_MS) this.end('max_duration')
    }
    return this.#reason ?? (session.ending.aborted ? 'session_ended' : undefined)
  }

  async #measure(): Promise<void> {
    const { journal, measure, log, replayId } = this.#options
    const { bytes } = journal
    const now = performance.now()
    const isSoon = now - this.#measured.at < MEASURE_MS || bytes - this.#measured.bytes < MEASURE_BYTES
    if (this.#isMeasuring || isSoon) return
    this.#isMeasuring = true
    this.#measured = { bytes, at: now }
    try {
      if (!(await measure(bytes))) this.end('storage_limit')
    } catch (error) {
      log.debug({ err: error, replayId }, 'cannot measure a recording now')
    } finally {
      this.#isMeasuring = false
    }
  }

  /** Accepts the records up to the first malformed one. */
  #read(bytes: Buffer, elapsedMs: number): Read {
    const accepted: Buffer[] = []
    let ended: ReplayEnd | undefined
    let wrong: unknown
    try {
      const splitter = newSplitter()
      for (const frame of splitter.split(bytes)) {
        const record = this.#reader.take(frame, elapsedMs)
        if (!record) continue
        accepted.push(toFrame(frame.kind, frame.payload))
        if (record.kind === 'end') ended = record.reason
      }
      if (!splitter.isBetween) throw new WrongRecord('the last record is incomplete')
    } catch (error) {
      wrong = error
    }
    return { accepted: Buffer.concat(accepted), ended, wrong }
  }
}

interface Read {
  readonly accepted: Buffer
  readonly ended: ReplayEnd | undefined
  readonly wrong: unknown
}
