// Every way that a login flow may go from one state to another, in one table. What is not in it does not happen: a
// report that comes late, from a server that was given up on or for a question that is over, changes nothing.
import type { FlowStatus, FlowStep } from '@berth/contracts/auth-connections'

export interface FlowState {
  readonly status: FlowStatus
  readonly step: FlowStep
}

export const flowEvents = [
  /** The page is looked for, or another one is looked at. */
  'discovers',
  /** Something is typed or clicked, by whoever's will. */
  'submits',
  'asks',
  'awaits_action',
  'succeeds',
  'fails',
  'expires',
  'is_canceled',
] as const
export type FlowEvent = (typeof flowEvents)[number]

type Row = Partial<Record<FlowEvent, FlowStep | FlowStatus>>

/** Where an end is reached, the step stays what it was, but for a success. */
const ends = { fails: 'FAILED', expires: 'EXPIRED', is_canceled: 'CANCELED' } as const

const rows: Readonly<Record<Exclude<FlowStep, 'COMPLETED'>, Row>> = {
  DISCOVERING: {
    discovers: 'DISCOVERING',
    submits: 'SUBMITTING',
    asks: 'AWAITING_INPUT',
    awaits_action: 'AWAITING_EXTERNAL_ACTION',
    succeeds: 'SUCCESS',
    ...ends,
  },
  SUBMITTING: {
    discovers: 'DISCOVERING',
    submits: 'SUBMITTING',
    asks: 'AWAITING_INPUT',
    awaits_action: 'AWAITING_EXTERNAL_ACTION',
    succeeds: 'SUCCESS',
    ...ends,
  },
  // The page may move on while it waits: somebody uses the live view, or a code arrives by itself.
  AWAITING_INPUT: {
    discovers: 'DISCOVERING',
    submits: 'SUBMITTING',
    asks: 'AWAITING_INPUT',
    awaits_action: 'AWAITING_EXTERNAL_ACTION',
    succeeds: 'SUCCESS',
    ...ends,
  },
  AWAITING_EXTERNAL_ACTION: {
    discovers: 'DISCOVERING',
    submits: 'SUBMITTING',
    asks: 'AWAITING_INPUT',
    awaits_action: 'AWAITING_EXTERNAL_ACTION',
    succeeds: 'SUCCESS',
    ...ends,
  },
}

const steps: readonly string[] = ['DISCOVERING', 'AWAITING_INPUT', 'AWAITING_EXTERNAL_ACTION', 'SUBMITTING']
const isStep = (text: FlowStep | FlowStatus): text is FlowStep => steps.includes(text)

/** Undefined: there is no such way. */
export function after({ status, step }: FlowState, event: FlowEvent): FlowState | undefined {
  if (status !== 'IN_PROGRESS' || step === 'COMPLETED') return undefined
  const next = rows[step][event]
  if (next === undefined) return undefined
  if (isStep(next)) return { status, step: next }
  return { status: next, step: next === 'SUCCESS' ? 'COMPLETED' : step }
}

export function isOver({ status }: Pick<FlowState, 'status'>): boolean {
  return status !== 'IN_PROGRESS'
}

export function isWaiting({ status, step }: FlowState): boolean {
  return status === 'IN_PROGRESS' && (step === 'AWAITING_INPUT' || step === 'AWAITING_EXTERNAL_ACTION')
}
