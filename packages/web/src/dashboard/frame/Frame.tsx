// What surrounds every page: the side bar, the state of the connection, the palette and the messages.
import { useEffect, useMemo, useState, type ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link, useLocation, useNavigate, useSearch } from '@tanstack/react-router'
import { newClient } from '../api/client.ts'
import { useChanges, type Connection } from '../api/changes.ts'
import { ApiContext } from '../api/context.ts'
import type { Power } from '../api/sign-in.ts'
import { useLeave } from '../api/use-leave.ts'
import { Icon } from '../parts/Icon.tsx'
import { Menu } from '../parts/Menu.tsx'
import { keepProject } from '../parts/project.ts'
import { setTheme, theme, themeWords, type Theme } from '../parts/theme.ts'
import { ToastList } from '../parts/ToastList.tsx'
import { sayProblem } from '../parts/toasts.ts'
import { Mark } from './Mark.tsx'
import { nav, type NavItem } from './nav.ts'
import { Palette } from './Palette.tsx'
import { useShortcuts } from './shortcuts.ts'

export function Frame({ power, children }: { power: Power; children: ReactNode }) {
  const { project } = useSearch({ strict: false }) as { project?: string }
  const projectId = power.isOrganization ? project : undefined
  const connection = useChanges(projectId)
  useShortcuts()
  const [isMenuOpen, setMenuOpen] = useState(false)
  const { pathname } = useLocation()
  useEffect(() => setMenuOpen(false), [pathname])
  const api = useMemo(() => ({ client: newClient(projectId), power, projectId }), [projectId, power])
  return (
    <ApiContext value={api}>
      <a className="skip" href="#content">
        Skip to the page
      </a>
      <div className="frame" data-menu={isMenuOpen ? 'open' : 'closed'}>
        <header className="top">
          <button
            type="button"
            className="plain"
            aria-label="Menu"
            aria-expanded={isMenuOpen}
            aria-controls="menu"
            onClick={() => setMenuOpen(!isMenuOpen)}
          >
            <Icon name="menu" />
          </button>
          <Mark size={20} />
          <span className="strong">Berth</span>
        </header>
        <aside className="side" id="menu">
          <Link to="/" search={keepProject} className="brand">
            <Mark /> Berth
          </Link>
          {power.isOrganization && power.can('projects:read') && <ProjectChoice chosen={project} />}
          <Palette />
          <nav aria-label="Pages">
            {nav.map((group, index) => (
              <ul key={index}>
                {group
                  .filter(({ scope }) => scope === undefined || power.can(scope))
                  .map((item) => (
                    <NavLink key={item.path} item={item} />
                  ))}
              </ul>
            ))}
          </nav>
          <footer>
            <a href="/docs" target="_blank" rel="noreferrer">
              <Icon name="book" /> Documentation
            </a>
            <Account power={power} />
          </footer>
        </aside>
        <div className="main">
          <ConnectionNote connection={connection} />
          <main id="content" tabIndex={-1}>
            {children}
          </main>
        </div>
      </div>
      <ToastList />
    </ApiContext>
  )
}

function NavLink({ item: { path, text, icon } }: { item: NavItem }) {
  return (
    <li>
      <Link to={path} search={keepProject} activeOptions={{ exact: path === '/', includeSearch: false }}>
        <Icon name={icon} /> {text}
      </Link>
    </li>
  )
}

function ProjectChoice({ chosen }: { chosen: string | undefined }) {
  const navigate = useNavigate()
  const client = useMemo(() => newClient(undefined), [])
  const { data = [] } = useQuery({
    queryKey: ['project', 'choice'],
    queryFn: async () => (await client.projects.list({ limit: 100 })).getPaginatedItems(),
  })
  return (
    <select
      aria-label="Project"
      value={chosen ?? ''}
      onChange={({ target }) =>
        void navigate({
          to: '.',
          search: (old: object) => ({ ...old, project: target.value === '' ? undefined : target.value }),
        })
      }
    >
      <option value="">All projects</option>
      {data.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  )
}

function Account({ power }: { power: Power }) {
  const leave = useLeave()
  const [current, setCurrent] = useState(theme)
  const choose = (chosen: Theme) => {
    setTheme(chosen)
    setCurrent(chosen)
  }
  const { key, project } = power.signIn
  return (
    <Menu
      label="Account"
      items={[
        ...(['device', 'light', 'dark'] as const).map((each) => ({
          text: themeWords[each],
          icon: current === each ? ('check' as const) : ('sun' as const),
          onSelect: () => choose(each),
        })),
        { text: 'Sign out', icon: 'out', onSelect: () => void leave().catch(sayProblem) },
      ]}
    >
      <span className="account">
        <span>{key.name}</span>
        <small className="quiet">
          {project?.name ?? 'Whole organisation'}
          {key.scopes !== null &&
            `, ${key.scopes.length === 1 ? key.scopes[0] : `${key.scopes.length} scopes`}`}
        </small>
      </span>
    </Menu>
  )
}

function ConnectionNote({ connection }: { connection: Connection }) {
  return (
    <p className="connection" role="status" data-state={connection}>
      {connection === 'lost' &&
        'The server does not answer. What you see may be old; the page catches up by itself.'}
    </p>
  )
}
