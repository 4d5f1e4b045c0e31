import type { ReactNode } from 'react'

export interface FoldProps {
  readonly title: string
  readonly about: string
  /** A problem inside must be seen. */
  readonly hasProblem: boolean
  readonly children: ReactNode
}

export function Fold({ title, about, hasProblem, children }: FoldProps) {
  return (
    <details className="fold" {...(hasProblem && { open: true })}>
      <summary>
        <span className="strong">{title}</span> <span className="quiet">{about}</span>
      </summary>
      <div className="fold-body">{children}</div>
    </details>
  )
}
