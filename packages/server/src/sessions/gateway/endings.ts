// Close codes and reasons that websocket clients get when their session ends.
import type { EndReason } from '@berth/contracts/browsers'
import { SessionEnded } from '../session/session.ts'

export interface Ending {
  readonly code: number
  readonly reason: string
}

/** Codes from 4000 on are for applications; 1001 is "going away", so the client can reconnect later. */
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

/** The link of a live view expired; the session keeps running. */
export const linkExpired: Ending = { code: 4006, reason: 'link expired' }

export function endingOf({ reason }: AbortSignal): Ending {
  return reason instanceof SessionEnded ? endings[reason.reason] : { code: 1001, reason: 'session ended' }
}
