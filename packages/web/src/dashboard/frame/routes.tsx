// Every address of the dashboard. Each page is loaded when somebody first opens it.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Link,
  Outlet,
} from '@tanstack/react-router'
import { Empty, ErrorNote } from '../parts/Notes.tsx'
import { Page } from '../parts/Page.tsx'
import { keepProject } from '../parts/project.ts'
import { Root } from './Root.tsx'

export const BASE = '/dashboard'

/** Whatever it is, the address of a page holds only texts, numbers and yes or no. */
type Search = Record<string, string | number | boolean | undefined>

const root = createRootRoute({
  component: () => (
    <Root>
      <Outlet />
    </Root>
  ),
  validateSearch: (search: Record<string, unknown>): Search =>
    Object.fromEntries(
      Object.entries(search).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value)),
    ) as Search,
  errorComponent: ({ error }) => <ErrorNote error={error} onRetry={() => location.reload()} />,
  notFoundComponent: () => (
    <Page title="There is no such page">
      <Empty icon="search" title="Nothing is at this address" text="Choose a page from the menu, or go back.">
        <Link to="/" search={keepProject} className="button">
          Go to the overview
        </Link>
      </Empty>
    </Page>
  ),
})

type Load = () => Promise<Record<string, unknown>>

function page(path: string, load: Load, name: string) {
  return createRoute({
    getParentRoute: () => root,
    path,
    // SAFETY: the name is that of a component of the module. One that cannot be loaded never comes: the page is reloaded,
    // when the server is there, and until then its frame says that it is not.
    component: lazyRouteComponent((() => load().catch(() => new Promise(() => {}))) as never, name as never),
  })
}

const pages = [
  page('/', () => import('../pages/overview/OverviewPage.tsx'), 'OverviewPage'),
  page('/sessions', () => import('../pages/sessions/SessionsPage.tsx'), 'SessionsPage'),
  page('/pools', () => import('../pages/pools/PoolsPage.tsx'), 'PoolsPage'),
  page('/pools/$id', () => import('../pages/pools/PoolPage.tsx'), 'PoolPage'),
  page('/sessions/$id', () => import('../pages/session/SessionPage.tsx'), 'SessionPage'),
  page('/profiles', () => import('../pages/profiles/ProfilesPage.tsx'), 'ProfilesPage'),
  page('/profiles/$id', () => import('../pages/profiles/ProfilePage.tsx'), 'ProfilePage'),
  page('/logins', () => import('../pages/logins/LoginsPage.tsx'), 'LoginsPage'),
  page('/logins/$id', () => import('../pages/logins/LoginPage.tsx'), 'LoginPage'),
  page('/credentials', () => import('../pages/credentials/CredentialsPage.tsx'), 'CredentialsPage'),
  page('/keys', () => import('../pages/keys/KeysPage.tsx'), 'KeysPage'),
  page('/projects', () => import('../pages/projects/ProjectsPage.tsx'), 'ProjectsPage'),
  page('/projects/$id', () => import('../pages/projects/ProjectPage.tsx'), 'ProjectPage'),
  page('/audit', () => import('../pages/audit/AuditPage.tsx'), 'AuditPage'),
  page('/apps', () => import('../pages/apps/AppsPage.tsx'), 'AppsPage'),
  page('/apps/$id', () => import('../pages/apps/AppPage.tsx'), 'AppPage'),
  page('/webhooks', () => import('../pages/webhooks/WebhooksPage.tsx'), 'WebhooksPage'),
  page('/webhooks/$id', () => import('../pages/webhooks/WebhookPage.tsx'), 'WebhookPage'),
  page('/settings', () => import('../pages/settings/SettingsPage.tsx'), 'SettingsPage'),
  page('/proxies', () => import('../pages/proxies/ProxiesPage.tsx'), 'ProxiesPage'),
  page('/extensions', () => import('../pages/extensions/ExtensionsPage.tsx'), 'ExtensionsPage'),
]

export function newRouter() {
  return createRouter({
    routeTree: root.addChildren(pages),
    basepath: BASE,
    scrollRestoration: true,
    defaultPreload: 'intent',
    defaultErrorComponent: ({ error }) => <ErrorNote error={error} onRetry={() => location.reload()} />,
  })
}
