// Collects the events of one session on its server. It reads those of the instance from the agent, adds those of the
// servers, and numbers all of them in one order. After a crash, events of the agent that are not in the database are
// read again.
import type { Logger } from 'pino'
import { MAX_EVENT_LENGTH } from '@berth/contracts/link'
import { pause } from '@berth/kit/pause'
import { SerialQueue } from '@berth/kit/serial-queue'
import type { Db } from '../../platform/database/schema.ts'
import type { Instance } from '../../instances/driver/driver.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import { AgentClient } from '../../instances/agent/client.ts'
import { followTelemetry, setTelemetry } from '../../instances/agent/telemetry.ts'
import { bitOf, isCaptured, needsMonitor, ownEvent, readAgentLine } from './event.ts'
import type { OwnEvent } from '../session/own-event.ts'
import type { NumberedEvent } from './feed.ts'
import { linesOf } from './lines.ts'
import { Pending, type PendingItem } from './pending.ts'
import type { Recorder } from './recorder.ts'
import { SegmentSeal } from './sealing.ts'
import type { Selection } from './selection.ts'
import * as store from './store.ts'

const RETRY_MS = 500
/** Time for the last events of an instance that ends. */
const LAST_WORDS_MS = 1_000
const FLUSH_MS = 3_000
/** A larger jump of the agent's numbers is made up. */
const MAX_DROPPED = 1_000_000_000
/** How often readers are told that the oldest events are deleted. */
const TELL_TRIMMED_MS = 600_000

export interface CollectorOptions {
  readonly sessionId: string
  readonly projectId: string
  readonly instance: Instance
  readonly db: Db
  readonly box: SealedBox
  readonly recorder: Recorder
  readonly log: Logger
  /** The selection that an earlier server may have sent to the agent. */
  readonly before: { readonly version: number; readonly isTold: boolean }
}

/** Events that are being stored. */
export interface Batch {
  readonly items: readonly PendingItem[]
  readonly lastSeq: number
}

export interface StoredBatch extends Batch {
  /** The last number before this batch. */
  readonly after: number
  readonly events: readonly NumberedEvent[]
  /** Stored size. */
  readonly bytes: number
}

export class Collector {
  readonly #options: CollectorOptions
  #ownAgent: AgentClient | undefined
  readonly #pending = new Pending()
  readonly #closing = new AbortController()
  #selection: Selection = null
  /** Version of the selection that the agent has. */
  #version: number
  /** The agent may be capturing already. */
  #isTold: boolean
  readonly #configuring = new SerialQueue()
  #seal: SegmentSeal | undefined
  #lastSeq = 0
  #storedBytes = 0
  /** The agent's numbers of the last event read and the last event stored. */
  #position = 0
  #storedPosition = 0
  #reading: Promise<void> | undefined
  #onRoom: (() => void) | undefined
  /** A batch whose commit may or may not have succeeded. */
  #uncertain: Batch | undefined
  #hasInbox = false
  #droppedCount = 0
  #isEnding = false
  #toldTrimmedAt = -Infinity

  constructor(options: CollectorOptions) {
    this.#options = options
    this.#version = options.before.version
    this.#isTold = options.before.isTold
  }

  /** Separate from the session's client, because the last events are read after the session has ended. */
  get #agent(): AgentClient {
    return (this.#ownAgent ??= new AgentClient(this.#options.instance))
  }

  get sessionId(): string {
    return this.#options.sessionId
  }

  get projectId(): string {
    return this.#options.projectId
  }

  get storedBytes(): number {
    return this.#storedBytes
  }

  get droppedCount(): number {
    return this.#droppedCount
  }

  isCurrent(version: number): boolean {
    return version <= this.#version
  }

  /** Resolves when the selection applies. The caller keeps the session awake. */
  configure(selection: Selection, version: number): Promise<void> {
    return this.#configuring.run(() => this.#configure(selection, version))
  }

  async #configure(selection: Selection, version: number): Promise<void> {
    if (this.isCurrent(version) || this.#closing.signal.aborted) return
    const isFirst = this.#seal === undefined
    if (selection && isFirst) await this.#begin()
    this.#selection = selection
    if (needsAgent(selection) || this.#isTold) {
      this.#isTold = true
      const order = { categories: selection ?? [], version }
      await setTelemetry(this.#agent, order, { signal: this.#closing.signal })
    }
    this.#version = version
    if (needsAgent(selection) && !this.#reading) {
      this.#reading = this.#read().finally(() => (this.#reading = undefined))
    }
  }

  async #begin(): Promise<void> {
    const { db, box, sessionId } = this.#options
    await store.insertState(db, sessionId, SegmentSeal.make(box, sessionId))
    const state = (await store.findState(db, sessionId))!
    this.#seal = SegmentSeal.open(box, sessionId, state.sealedKey)
    this.#lastSeq = state.lastSeq
    this.#storedBytes = state.storedBytes
    this.#position = state.agentPosition
    this.#storedPosition = state.agentPosition
    // Fetch events that other servers left before this server took over.
    this.takeInbox()
  }

  publish(event: OwnEvent): void {
    const whole = ownEvent(event)
    if (!isCaptured(this.#selection, whole.category) || this.#closing.signal.aborted) return
    if (!this.#pending.addOwn(whole)) this.#droppedCount++
    this.#options.recorder.schedule(this)
  }

  /** Called when another server has left events. */
  takeInbox(): void {
    if (!this.#seal) return
    this.#hasInbox = true
    this.#options.recorder.schedule(this)
  }

  async #read(): Promise<void> {
    const { log, sessionId } = this.#options
    while (!this.#closing.signal.aborted && !this.#isEnding && needsAgent(this.#selection)) {
      try {
        const answer = await followTelemetry(this.#agent, this.#position, { signal: this.#closing.signal })
        for await (const lines of linesOf(answer, { maxBytes: MAX_EVENT_LENGTH })) {
          for (const line of lines) this.#take(line)
          this.#options.recorder.schedule(this)
          if (this.#pending.isFull) await this.#room()
        }
      } catch (error) {
        if (!this.#closing.signal.aborted)
          log.debug({ err: error, sessionId }, 'the event stream of an agent broke off')
      }
      if (!this.#isEnding) await pause(RETRY_MS, this.#closing.signal)
    }
  }

  #take(line: string): void {
    let read: ReturnType<typeof readAgentLine>
    try {
      read = readAgentLine(line)
    } catch {
      // The next event's number reveals the gap.
      return
    }
    const { position, event } = read
    const missed = position - this.#position - 1
    if (missed < 0) return
    if (missed > 0) this.#drop(Math.min(missed, MAX_DROPPED))
    this.#position = position
    if (!isCaptured(this.#selection, event.category)) return
    try {
      this.#pending.add(event, position)
    } catch {
      // The event is nested too deeply to serialise.
      this.#drop(1)
    }
  }

  #drop(count: number): void {
    this.#pending.drop(count)
    this.#droppedCount += count
  }

  async #room(): Promise<void> {
    if (this.#closing.signal.aborted) return
    await new Promise<void>((resolve) => {
      this.#onRoom = resolve
      this.#closing.signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }

  get hasWork(): boolean {
    return this.#hasInbox || this.#uncertain !== undefined || this.#pending.hasEvents
  }

  /** Stores pending events in the transaction; undefined when there are none. */
  async store(tx: Db): Promise<StoredBatch | undefined> {
    const { sessionId } = this.#options
    if (!this.#seal) return undefined
    if (this.#uncertain) await this.#resolveUncertain(tx)
    const own = this.#pending.take()
    const hadInbox = this.#hasInbox
    this.#hasInbox = false
    this.#uncertain = { items: own, lastSeq: this.#lastSeq }
    try {
      const others = hadInbox ? await this.#othersFrom(tx) : []
      const { events, lastSeq } = number([...own, ...others], this.#lastSeq)
      if (events.length === 0) {
        this.#uncertain = undefined
        this.#pending.giveBack(own)
        return undefined
      }
      this.#uncertain = { items: own, lastSeq }
      const position = lastPosition(own) ?? this.#storedPosition
      const firstSeq = events[0]!.seq
      const times = events.map(({ ts }) => ts)
      const after = this.#lastSeq
      const payload = await this.#seal.seal(
        events.map(({ line }) => line),
        { sessionId, firstSeq },
      )
      const isStored = await store.appendSegment(tx, {
        sessionId,
        after,
        firstSeq,
        lastSeq,
        firstTs: Math.min(...times),
        lastTs: Math.max(...times),
        categories: events.reduce((bits, { category }) => bits | bitOf(category), 0),
        agentPosition: position,
        payload,
      })
      if (!isStored)
        throw new Error(`Cannot store events of session "${sessionId}": another writer has used its numbers`)
      return { items: own, after, lastSeq, events, bytes: payload.length }
    } catch (error) {
      if (hadInbox) this.#hasInbox = true
      throw error
    }
  }

  async #othersFrom(tx: Db): Promise<PendingItem[]> {
    const events = (await store.takeFromInbox(tx, this.sessionId)) as OwnEvent[]
    const box = new Pending()
    for (const event of events) {
      const whole = { ...ownEvent(event), ...event }
      if (isCaptured(this.#selection, whole.category)) box.add(whole)
    }
    const items: PendingItem[] = []
    for (let some = box.take(); some.length > 0; some = box.take()) items.push(...some)
    return items
  }

  async #resolveUncertain(tx: Db): Promise<void> {
    const uncertain = this.#uncertain!
    const state = await store.findState(tx, this.sessionId)
    if (state && state.lastSeq > this.#lastSeq && state.lastSeq === uncertain.lastSeq) {
      this.#lastSeq = state.lastSeq
      this.#storedPosition = state.agentPosition
    } else {
      this.#lastSeq = state?.lastSeq ?? this.#lastSeq
      this.#pending.giveBack(uncertain.items)
    }
    this.#uncertain = undefined
  }

  /** Called after the commit. */
  committed({ items, lastSeq, bytes }: StoredBatch): void {
    this.#uncertain = undefined
    this.#lastSeq = lastSeq
    this.#storedPosition = lastPosition(items) ?? this.#storedPosition
    this.#storedBytes += bytes
    if (this.#pending.isFull) return
    this.#onRoom?.()
    this.#onRoom = undefined
  }

  /** Called when stored events were deleted. */
  dropped({ leftBytes }: { leftBytes: number }): void {
    this.#storedBytes = leftBytes
  }

  /** Tells the readers that the oldest events of the project were deleted, whatever they have selected. */
  tellTrimmed(): void {
    const now = performance.now()
    const isOff = !this.#seal || this.#selection === null || this.#closing.signal.aborted
    if (isOff || now - this.#toldTrimmedAt < TELL_TRIMMED_MS) return
    this.#toldTrimmedAt = now
    this.#pending.addOwn(ownEvent({ type: 'monitor_events_deleted', data: { reason: 'storage_limit' } }))
    this.#options.recorder.schedule(this)
  }

  /** Called when the session has ended; resolves when all events are stored, or after a timeout. */
  async close(): Promise<void> {
    const { db, recorder, sessionId, log } = this.#options
    this.#isEnding = true
    if (this.#reading) await Promise.race([this.#reading, this.#lastWords()])
    await this.release()
    if (!this.#seal) return
    try {
      await store.markEnded(db, sessionId)
      await recorder.announceEnd(sessionId)
    } catch (error) {
      log.warn({ err: error, sessionId }, 'cannot record the end of the telemetry of a session')
    }
  }

  /** Once the instance has ended, its connections close, so the stream has an end. */
  async #lastWords(): Promise<void> {
    await this.#options.instance.ended
    await pause(LAST_WORDS_MS)
  }

  /** Leaves the rest to the next server. */
  async release(): Promise<void> {
    this.#closing.abort(new Error('This server no longer collects the events of the session'))
    await this.#reading
    this.#ownAgent?.close()
    if (this.#seal) await this.#options.recorder.flush(this, FLUSH_MS)
  }
}

function lastPosition(items: readonly PendingItem[]): number | undefined {
  const last = items.findLast((item) => 'position' in item)
  return last && 'position' in last ? last.position : undefined
}

function needsAgent(selection: Selection): boolean {
  return selection !== null && (selection.includes('system') || needsMonitor(selection))
}

function number(items: readonly PendingItem[], after: number): { events: NumberedEvent[]; lastSeq: number } {
  let seq = after
  const events: NumberedEvent[] = []
  for (const item of items) {
    if ('dropped' in item) {
      seq += item.dropped
      continue
    }
    seq++
    const { text, ts, category } = item
    events.push({ seq, ts, category, line: `{"seq":${seq},"event":${text}}` })
  }
  return { events, lastSeq: seq }
}
