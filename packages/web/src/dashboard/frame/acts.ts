// What the palette offers to do, and the parts of pages that have no place in the side bar.
import type { OperationScope } from '@berth/contracts/scopes'
import type { IconName } from '../parts/Icon.tsx'

export interface PaletteItem {
  readonly text: string
  readonly icon: IconName
  readonly path: string
  readonly search: Readonly<Record<string, string | boolean>>
  /** What the key needs. */
  readonly scope: OperationScope
  readonly isForOrganization?: boolean
}

const create = { create: true }

export const acts: readonly PaletteItem[] = [
  { text: 'Create a session', icon: 'plus', path: '/sessions', search: create, scope: 'browsers:write' },
  { text: 'Create a pool', icon: 'plus', path: '/pools', search: create, scope: 'browsers:write' },
  { text: 'Create a profile', icon: 'plus', path: '/profiles', search: create, scope: 'profiles:write' },
  { text: 'Create a login', icon: 'plus', path: '/logins', search: create, scope: 'logins:write' },
  {
    text: 'Create a credential',
    icon: 'plus',
    path: '/credentials',
    search: create,
    scope: 'credentials:write',
  },
  {
    text: 'Add a provider of credentials',
    icon: 'plus',
    path: '/credentials',
    search: { tab: 'providers', ...create },
    scope: 'credentials:write',
    isForOrganization: true,
  },
  { text: 'Create a proxy', icon: 'plus', path: '/proxies', search: create, scope: 'proxies:write' },
  { text: 'Create a webhook', icon: 'plus', path: '/webhooks', search: create, scope: 'webhooks:write' },
  {
    text: 'Upload an extension',
    icon: 'upload',
    path: '/extensions',
    search: { add: 'file' },
    scope: 'extensions:write',
  },
  {
    text: 'Add an extension from the Chrome Web Store',
    icon: 'download',
    path: '/extensions',
    search: { add: 'store' },
    scope: 'extensions:write',
  },
  { text: 'Deploy an app', icon: 'upload', path: '/apps', search: { deploy: true }, scope: 'apps:write' },
  {
    text: 'Create a project',
    icon: 'plus',
    path: '/projects',
    search: create,
    scope: 'projects:write',
    isForOrganization: true,
  },
  { text: 'Create an API key', icon: 'plus', path: '/keys', search: create, scope: 'api_keys:write' },
  {
    text: 'Export the audit log',
    icon: 'plus',
    path: '/audit',
    search: { tab: 'exports', ...create },
    scope: 'audit_logs:write',
    isForOrganization: true,
  },
  {
    text: 'Export telemetry',
    icon: 'plus',
    path: '/settings',
    search: { create: 'destination' },
    scope: 'browsers:write',
  },
  {
    text: 'Limit the sessions of each project',
    icon: 'settings',
    path: '/settings',
    search: { edit: 'limits' },
    scope: 'projects:write',
    isForOrganization: true,
  },
]

export const parts: readonly PaletteItem[] = [
  {
    text: 'Ended sessions',
    icon: 'sessions',
    path: '/sessions',
    search: { status: 'deleted' },
    scope: 'browsers:read',
  },
  {
    text: 'Providers of credentials',
    icon: 'credentials',
    path: '/credentials',
    search: { tab: 'providers' },
    scope: 'credentials:read',
  },
  {
    text: 'Deployments',
    icon: 'apps',
    path: '/apps',
    search: { tab: 'deployments' },
    scope: 'apps:read',
  },
  { text: 'Invocations', icon: 'play', path: '/apps', search: { tab: 'invocations' }, scope: 'apps:read' },
  {
    text: 'Export destinations of the audit log',
    icon: 'audit',
    path: '/audit',
    search: { tab: 'exports' },
    scope: 'audit_logs:read',
    isForOrganization: true,
  },
]
