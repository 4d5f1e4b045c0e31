// What a websocket client is told when its session ends: a code to act on and a reason to read.
import type { EndReason } from '@berth/contracts/browsers'
import { SessionEnded } from '../session/session.ts'

export interface Ending {
  readonly code: number
  readonly reason: string
}

/** Codes from 4000 on are ours to give meaning to; 1001 is "going away": connect again later. */
export const endings: Record<EndReason, Ending> = {
  deleted: { code: 4000, reason: 'session deleted' },
  timed_out: { code: 4001, reason: 'session timed out' },
  crashed: { code: 4002, reason: 'session crashed' },
  out_of_memory: { code: 4003, reason: 'session out of memory' },
  start_failed: { code: 4004, reason: 'session failed to start' },
  lost: { code: 4005, reason: 'session lost' },
  released: { code: 4007, reason: 'session released' },
  server_stopped: { code: 1001, reason: 'server stopping' },
}

/** Of a live view whose link was good for so long only; the session goes on. */
export const linkExpired: Ending = { code: 4006, reason: 'link expired' }

export function endingOf({ reason }: AbortSignal): Ending {
  return reason instanceof SessionEnded ? endings[reason.reason] : { code: 1001, reason: 'session ended' }
}
