// What a page shows instead of content: waiting, nothing, or a problem.
import type { ReactNode } from 'react'
import { problemOf } from '../api/problem.ts'
import { Code, Copyable } from './Copy.tsx'
import { Icon, type IconName } from './Icon.tsx'

export function ErrorNote({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }) {
  const { title, remedy, requestId } = problemOf(error)
  return (
    <div className="note problem" role="alert">
      <Icon name="warning" />
      <div>
        <p className="strong">{title}</p>
        {remedy !== undefined && <p>{remedy}</p>}
        {requestId !== undefined && (
          <p className="quiet">
            Request <Copyable text={requestId} />
          </p>
        )}
      </div>
      {onRetry && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  )
}

export function Loading({ what }: { what: string }) {
  return (
    <div className="note" role="status">
      <span className="spinner" aria-hidden="true" />
      <p className="quiet">Reading {what}</p>
    </div>
  )
}

export interface EmptyProps {
  readonly icon: IconName
  readonly title: string
  readonly text: ReactNode
  /** The first command to copy. */
  readonly command?: string
  readonly children?: ReactNode
}

export function Empty({ icon, title, text, command, children }: EmptyProps) {
  return (
    <section className="empty">
      <Icon name={icon} size={34} />
      <h2>{title}</h2>
      <p>{text}</p>
      {command !== undefined && <Code text={command} label="First command" />}
      {children}
    </section>
  )
}

/** The usual three states of what is read, before there is content. */
export function Pending({ query, what }: { query: ReadState; what: string }) {
  if (query.error) return <ErrorNote error={query.error} onRetry={() => void query.refetch()} />
  return <Loading what={what} />
}

export interface ReadState {
  readonly error: unknown
  refetch(): unknown
}
