// Short messages about what was done, and problems of acts that have no place of their own.
import { problemOf } from '../api/problem.ts'

export interface Toast {
  readonly id: number
  readonly text: string
  readonly kind: 'done' | 'problem'
  readonly requestId?: string
  /** Takes back what was done. */
  readonly undo?: () => void
}

const SHOWN_MS = 5_000
const PROBLEM_MS = 12_000
const MAX_SHOWN = 5

let shown: readonly Toast[] = []
let lastId = 0
const listeners = new Set<() => void>()

export const toasts = () => shown

export function onToasts(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function say(text: string, more: { undo?: () => void } = {}): void {
  add({ text, kind: 'done', ...more })
}

export function sayProblem(error: unknown): void {
  const { title, remedy, requestId } = problemOf(error)
  const text = remedy === undefined ? title : `${title}. ${remedy}`
  add({ text, kind: 'problem', ...(requestId !== undefined && { requestId }) })
}

export function dismiss(id: number): void {
  shown = shown.filter((toast) => toast.id !== id)
  for (const listener of listeners) listener()
}

function add(toast: Omit<Toast, 'id'>): void {
  const id = ++lastId
  shown = [...shown, { ...toast, id }].slice(-MAX_SHOWN)
  for (const listener of listeners) listener()
  setTimeout(() => dismiss(id), toast.kind === 'problem' ? PROBLEM_MS : SHOWN_MS)
}
