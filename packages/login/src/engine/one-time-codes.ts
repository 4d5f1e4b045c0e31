// One-time codes from a stored secret. Takes the next code when the current one is about to expire or was rejected.
import { setTimeout as pause } from 'node:timers/promises'
import type { ReadField } from '../rules/reading.ts'
import type { KnownValues, OneTimeCode } from '../run/run.ts'

/** Time to type the code and for the website to check it. */
const MIN_LEFT_MS = 4_000
const WAIT_TIMEOUT_MS = 65_000

export class OneTimeCodes {
  readonly #totp: KnownValues['totp']
  readonly #signal: AbortSignal
  readonly #isAllowed: () => boolean
  #last: OneTimeCode | undefined
  #next: OneTimeCode | undefined
  #renewals = 0
  #isStopped = false
  #wasUsed = false

  /** `isAllowed`: whether a code may be typed into the document that the login is at. */
  constructor(known: KnownValues | undefined, isAllowed: () => boolean, signal: AbortSignal) {
    this.#totp = known?.totp
    this.#isAllowed = isAllowed
    this.#signal = signal
  }

  /** Whether the last code came from the stored secret. */
  get wasUsed(): boolean {
    return this.#wasUsed
  }

  /** False for a code that the website sends to the user. */
  covers({ mfaType, ref }: ReadField): boolean {
    if (!this.#totp || this.#isStopped || !this.#isAllowed() || ref === 'backup_code') return false
    return mfaType === undefined || mfaType === 'totp'
  }

  async take(field: ReadField): Promise<string | undefined> {
    if (!this.covers(field)) return undefined
    let code = this.#next ?? this.#totp!()
    this.#next = undefined
    if (code.expiresAt.getTime() - Date.now() < MIN_LEFT_MS) code = this.#totp!(code.expiresAt)
    const wait = code.validFrom.getTime() - Date.now()
    if (wait > 0) await pause(Math.min(wait, WAIT_TIMEOUT_MS), undefined, { signal: this.#signal })
    this.#last = code
    this.#wasUsed = true
    return code.code
  }

  /** Allows one retry, because the rejected code may have been too old. */
  renew(fields: readonly ReadField[]): boolean {
    if (!this.#last || this.#renewals > 0 || !fields.some((field) => this.covers(field))) return false
    this.#renewals++
    this.#next = this.#totp!(this.#last.expiresAt)
    return true
  }

  /** From now on the user enters the codes. */
  stop(): void {
    this.#isStopped = true
    this.#wasUsed = false
  }
}
