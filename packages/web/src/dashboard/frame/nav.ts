// The pages of the dashboard, in the order of the side bar.
import type { OperationScope } from '@berth/contracts/scopes'
import type { IconName } from '../parts/Icon.tsx'

export interface NavItem {
  readonly path: string
  readonly text: string
  readonly icon: IconName
  /** What the key needs to see anything there. */
  readonly scope?: OperationScope
}

export const nav: readonly (readonly NavItem[])[] = [
  [
    { path: '/', text: 'Overview', icon: 'overview', scope: 'browsers:read' },
    { path: '/sessions', text: 'Sessions', icon: 'sessions', scope: 'browsers:read' },
    { path: '/pools', text: 'Pools', icon: 'pools', scope: 'browsers:read' },
  ],
  [
    { path: '/profiles', text: 'Profiles', icon: 'profiles', scope: 'profiles:read' },
    { path: '/logins', text: 'Logins', icon: 'logins', scope: 'logins:read' },
    { path: '/credentials', text: 'Credentials', icon: 'credentials', scope: 'credentials:read' },
    { path: '/proxies', text: 'Proxies', icon: 'proxies', scope: 'proxies:read' },
    { path: '/extensions', text: 'Extensions', icon: 'extensions', scope: 'extensions:read' },
  ],
  [
    { path: '/apps', text: 'Apps', icon: 'apps', scope: 'apps:read' },
    { path: '/webhooks', text: 'Webhooks', icon: 'webhooks', scope: 'webhooks:read' },
  ],
  [
    { path: '/projects', text: 'Projects', icon: 'projects', scope: 'projects:read' },
    { path: '/keys', text: 'API keys', icon: 'keys', scope: 'api_keys:read' },
    { path: '/audit', text: 'Audit log', icon: 'audit', scope: 'audit_logs:read' },
    { path: '/settings', text: 'Settings', icon: 'settings' },
  ],
]
