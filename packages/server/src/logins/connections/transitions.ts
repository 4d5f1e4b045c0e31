// Every way that a login flow may go from one state to another, in one table. What is not in it does not happen: a
// report that comes late, from a server that was given up on or for a question that is over, changes nothing.
import type { FlowStatus, FlowStep } from '@berth/contracts/auth-connections'
import type { FlowRecord } from './types.ts'

/**
 * - DISCOVERING: the login page is looked for, or another page is looked at.
 * - AWAITING_INPUT: somebody is asked for something.
 * - AWAITING_EXTERNAL_ACTION: somebody has to do something elsewhere, such as confirm the login on a phone.
 * - SUBMITTING: something is typed or clicked.
 * - SAVING: the login succeeded, its session has ended, and is being saved into the profile.
 * - The others are ends.
 */
export type FlowState = FlowRecord['state']

export const flowEvents = [
  /** The engine looks for the page; also after a restart of the server. */
  'discovers',
  /** The engine types or clicks, by whoever's will. */
  'submits',
  /** The engine asks somebody. */
  'asks',
  'awaits_action',
  /** Somebody submits what was asked for. */
  'is_answered',
  /** The engine is done, and the session ends to be saved. */
  'saves',
  'succeeds',
  'fails',
  /** Its time is up. */
  'expires',
  'is_canceled',
  /** Its connection was deleted. */
  'is_dropped',
] as const
export type FlowEvent = (typeof flowEvents)[number]

/**
 * What the engine and the clock may do to a flow that runs. The page may move on by itself while somebody is asked, by
 * the live view or by a code that arrives, so the engine may go from each step to each other one.
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
/** Only who waits for an answer takes one. */
const waiting = { ...running, is_answered: 'SUBMITTING' } as const

export const transitions: Readonly<Record<FlowState, Readonly<Partial<Record<FlowEvent, FlowState>>>>> = {
  DISCOVERING: running,
  AWAITING_INPUT: waiting,
  AWAITING_EXTERNAL_ACTION: waiting,
  SUBMITTING: running,
  // It is as good as over: it neither expires nor can be canceled, and only a profile that was saved is a success.
  SAVING: { succeeds: 'SUCCESS', fails: 'FAILED', is_dropped: 'CANCELED' },
  SUCCESS: {},
  FAILED: {},
  EXPIRED: {},
  CANCELED: {},
}
export const flowStates = Object.keys(transitions) as readonly FlowState[]

/** Undefined: there is no such way. */
export function after({ state }: Pick<FlowRecord, 'state'>, event: FlowEvent): FlowState | undefined {
  return transitions[state][event]
}

/** As it is shown: how far it is, or came. An end keeps the step that was reached, but for a success. */
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

/** As it is shown. */
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

/** For somebody. */
export function isWaiting(flow: Pick<FlowRecord, 'state'>): boolean {
  return after(flow, 'is_answered') !== undefined
}
