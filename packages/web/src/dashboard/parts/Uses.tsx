import { Link } from '@tanstack/react-router'
import { keepProject } from './project.ts'

/** Something that uses what the page shows. */
export interface Use {
  readonly to: string
  readonly what: string
  readonly name: string
}

export function Uses({ uses }: { uses: readonly Use[] }) {
  if (uses.length === 0) return <p className="quiet">Nothing uses it now.</p>
  return (
    <ul className="uses">
      {uses.map(({ to, what, name }) => (
        <li key={to}>
          <span className="quiet">{what}</span>{' '}
          <Link to={to} search={keepProject}>
            {name}
          </Link>
        </li>
      ))}
    </ul>
  )
}
