// Every allowed transition of a login flow, in one table. Anything else has no effect: a late report, from a lost
// server or for an old question, changes nothing.
import type { FlowStatus, FlowStep } from '@berth/contracts/auth-connections'
import type { FlowRecord } from './types.ts'

/**
 * - DISCOVERING: the engine looks for the login page, or reads another page.
 * - AWAITING_INPUT: a person must enter something.
 * - AWAITING_EXTERNAL_ACTION: a person must do something elsewhere, such as confirm the login on a phone.
 * - SUBMITTING: the engine types or clicks.
 * - SAVING: the login succeeded, and its ended session is being saved into the profile.
 * - The others are ends.
 */
export type FlowState = FlowRecord['state']

export const flowEvents = [
  /** The engine looks for the page; also after a server restart. */
  'discovers',
  /** The engine types or clicks, for a person or on its own. */
  'submits',
  /** The engine asks a person. */
  'asks',
  'awaits_action',
  /** A person submits the answer. */
  'is_answered',
  /** The engine is done, and the session ends in order to be saved. */
  'saves',
  'succeeds',
  'fails',
  /** The time limit is over. */
  'expires',
  'is_canceled',
  /** The connection was deleted. */
  'is_dropped',
] as const
export type FlowEvent = (typeof flowEvents)[number]

/**
 * What the engine and the clock may do to a running flow. The page may move on while a person is asked, through
 * the live view or an arriving code, so the engine may go from any step to any other.
 */
const running = {
  discovers: 'DISCOVERING',
  submits: 'SUBMITTING',
  asks: 'AWAITING_INPUT',
  awaits_action: 'AWAITING_EXTERNAL_ACTION',
  saves: 'SAVING',
  fails: 'FAILED',
  expires: 'EXPIRED',
  is_canceled: 'CANCELED',
  is_dropped: 'CANCELED',
} as const
/** Only a waiting flow accepts an answer. */
const waiting = { ...running, is_answered: 'SUBMITTING' } as const

export const transitions: Readonly<Record<FlowState, Readonly<Partial<Record<FlowEvent, FlowState>>>>> = {
  DISCOVERING: running,
  AWAITING_INPUT: waiting,
  AWAITING_EXTERNAL_ACTION: waiting,
  SUBMITTING: running,
  // Nearly ended: it cannot expire or be canceled, and only a saved profile is a success.
  SAVING: { succeeds: 'SUCCESS', fails: 'FAILED', is_dropped: 'CANCELED' },
  SUCCESS: {},
  FAILED: {},
  EXPIRED: {},
  CANCELED: {},
}
export const flowStates = Object.keys(transitions) as readonly FlowState[]

/** Undefined when the transition is not allowed. */
export function after({ state }: Pick<FlowRecord, 'state'>, event: FlowEvent): FlowState | undefined {
  return transitions[state][event]
}

/** The shown step: the current or last one. Ends other than a success keep the last step. */
export function stepIn(state: FlowState, before: FlowStep): FlowStep {
  switch (state) {
    case 'DISCOVERING':
    case 'AWAITING_INPUT':
    case 'AWAITING_EXTERNAL_ACTION':
    case 'SUBMITTING':
      return state
    case 'SUCCESS':
      return 'COMPLETED'
    case 'SAVING':
    case 'FAILED':
    case 'EXPIRED':
    case 'CANCELED':
      return before
  }
}

/** The shown status. */
export function statusOf({ state }: Pick<FlowRecord, 'state'>): FlowStatus {
  switch (state) {
    case 'SUCCESS':
    case 'FAILED':
    case 'EXPIRED':
    case 'CANCELED':
      return state
    case 'DISCOVERING':
    case 'AWAITING_INPUT':
    case 'AWAITING_EXTERNAL_ACTION':
    case 'SUBMITTING':
    case 'SAVING':
      return 'IN_PROGRESS'
  }
}

export function isOver(flow: Pick<FlowRecord, 'state'>): boolean {
  return statusOf(flow) !== 'IN_PROGRESS'
}

/** Whether it waits for a person. */
export function isWaiting(flow: Pick<FlowRecord, 'state'>): boolean {
  return after(flow, 'is_answered') !== undefined
}
