import { useContext, type ReactNode } from 'react'
import { problemAt } from '../../../api/field-problems.ts'
import { ProblemsContext } from '../../../parts/Form.tsx'

export interface FoldProps {
  readonly title: string
  readonly about: string
  /** The fields of the request that it is about: a problem inside must be seen. */
  readonly fields: readonly string[]
  readonly children: ReactNode
}

export function Fold({ title, about, fields, children }: FoldProps) {
  const problems = useContext(ProblemsContext)
  const hasProblem = fields.some((field) => problemAt(problems, field) !== undefined)
  return (
    <details className="fold" {...(hasProblem && { open: true })}>
      <summary>
        <span className="strong">{title}</span> <span className="quiet">{about}</span>
      </summary>
      <div className="fold-body">{children}</div>
    </details>
  )
}
