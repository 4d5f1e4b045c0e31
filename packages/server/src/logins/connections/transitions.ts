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

/**
 * The same from every step, as the page may move on while somebody is asked: by the live view, or by a code that
 * arrives by itself. Where an end is reached, the step stays what it was, but for a success.
 */
const ways: Readonly<Record<FlowEvent, FlowStep | FlowStatus>> = {
  discovers: 'DISCOVERING',
  submits: 'SUBMITTING',
  asks: 'AWAITING_INPUT',
  awaits_action: 'AWAITING_EXTERNAL_ACTION',
  succeeds: 'SUCCESS',
  fails: 'FAILED',
  expires: 'EXPIRED',
  is_canceled: 'CANCELED',
}

const steps: readonly string[] = ['DISCOVERING', 'AWAITING_INPUT', 'AWAITING_EXTERNAL_ACTION', 'SUBMITTING']
const isStep = (text: FlowStep | FlowStatus): text is FlowStep => steps.includes(text)

/** Undefined: there is no such way. */
export function after({ status, step }: FlowState, event: FlowEvent): FlowState | undefined {
  if (status !== 'IN_PROGRESS' || step === 'COMPLETED') return undefined
  const next = ways[event]
  if (isStep(next)) return { status, step: next }
  return { status: next, step: next === 'SUCCESS' ? 'COMPLETED' : step }
}

export function isOver({ status }: Pick<FlowState, 'status'>): boolean {
  return status !== 'IN_PROGRESS'
}

export function isWaiting({ status, step }: FlowState): boolean {
  return status === 'IN_PROGRESS' && (step === 'AWAITING_INPUT' || step === 'AWAITING_EXTERNAL_ACTION')
}
