import { useEffect, type ReactNode } from 'react'

export interface PageProps {
  readonly title: string
  /** Above the title: where the page belongs. */
  readonly above?: ReactNode
  readonly about?: ReactNode
  readonly actions?: ReactNode
  /** The content fills the height, and scrolls by itself. */
  readonly isFull?: boolean
  readonly children: ReactNode
}

export function Page({ title, above, about, actions, isFull = false, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} – Berth`
  }, [title])
  return (
    <div className={isFull ? 'page full' : 'page'}>
      <header className="page-head">
        <div>
          {above !== undefined && <p className="above">{above}</p>}
          <h1>{title}</h1>
          {about !== undefined && <div className="about">{about}</div>}
        </div>
        {actions !== undefined && <div className="actions">{actions}</div>}
      </header>
      {children}
    </div>
  )
}

export function Card({
  title,
  actions,
  children,
}: {
  title?: string
  actions?: ReactNode
  children: ReactNode
}) {
  return (
    <section className="card">
      {title !== undefined && (
        <header>
          <h2>{title}</h2>
          {actions}
        </header>
      )}
      {children}
    </section>
  )
}

/** Names and values. Those without a value are left out. */
export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  const known = facts.filter(([, value]) => value !== undefined && value !== null && value !== '')
  return (
    <dl className="facts">
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
