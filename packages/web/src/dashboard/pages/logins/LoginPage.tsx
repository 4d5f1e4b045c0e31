import { useState } from 'react'
import type { LoginRequest, ManagedAuth } from '@berth/contracts/auth-connections'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useApi, useAsk } from '../../api/context.ts'
import { Copyable } from '../../parts/Copy.tsx'
import { Confirm } from '../../parts/Dialog.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { Menu } from '../../parts/Menu.tsx'
import { Pending } from '../../parts/Notes.tsx'
import { Card, Facts, Page } from '../../parts/Page.tsx'
import { keepProject } from '../../parts/project.ts'
import { duration, Time } from '../../parts/Time.tsx'
import { useAct } from '../../parts/use-act.ts'
import { useOne } from '../../parts/use-one.ts'
import { useUrl } from '../../parts/use-url.ts'
import { WebLink } from '../../parts/WebLink.tsx'
import { EditLogin } from './EditLogin.tsx'
import { FlowCard } from './FlowCard.tsx'
import { ImportSession } from './ImportSession.tsx'
import { LoginState } from './LoginState.tsx'
import { Timeline } from './Timeline.tsx'

export function LoginPage() {
  const { id = '' } = useParams({ strict: false })
  const ask = useAsk()
  const query = useOne<ManagedAuth>(['auth_connection', id], (signal) =>
    ask(`/auth/connections/${encodeURIComponent(id)}`, { signal }),
  )
  const { data: login } = query
  const above = (
    <Link to="/logins" search={keepProject}>
      Logins
    </Link>
  )
  if (login) return <Loaded login={login} above={above} />
  return (
    <Page title="Login" above={above}>
      <Pending query={query} what="the login" />
    </Page>
  )
}

function Loaded({ login, above }: { login: ManagedAuth; above: React.ReactNode }) {
  const ask = useAsk()
  const { client, power } = useApi()
  const url = useUrl()
  const navigate = useNavigate()
  const [isAsking, setAsking] = useState(false)
  const path = `/auth/connections/${encodeURIComponent(login.id)}`
  const isRunning = login.flow_status === 'IN_PROGRESS'
  const start = useAct({
    run: (body: LoginRequest) => ask(`${path}/login`, { method: 'POST', body }),
    changes: ['auth_connection'],
  })
  const check = useAct({
    run: () => ask<ManagedAuth>(`${path}/check`, { method: 'POST' }),
    done: ({ status }) => (status === 'AUTHENTICATED' ? 'It is logged in' : 'It is logged out'),
    changes: ['auth_connection'],
  })
  const remove = useAct({
    run: () => client.auth.connections.delete(login.id),
    done: 'The login is deleted',
    changes: ['auth_connection'],
    isQuiet: true,
    onDone: () => void navigate({ to: '/logins', search: keepProject, replace: true }),
  })
  return (
    <Page
      title={login.domain}
      above={above}
      about={
        <>
          <LoginState login={login} />
          <Copyable text={login.id} />
        </>
      }
      actions={
        power.can('logins:write') && (
          <>
            <button
              type="button"
              className="primary"
              disabled={isRunning || start.isPending}
              onClick={() => start.mutate({})}
            >
              <Icon name="logins" size={16} /> Log in
            </button>
            <button
              type="button"
              disabled={isRunning || check.isPending}
              title={isRunning ? 'Wait for the login to end' : undefined}
              onClick={() => check.mutate()}
            >
              <Icon name="refresh" size={16} /> {check.isPending ? 'Checking…' : 'Check now'}
            </button>
            <Menu
              label="More actions"
              items={[
                {
                  text: 'Add a passkey',
                  icon: 'keys',
                  isDisabled: isRunning,
                  onSelect: () => start.mutate({ create_passkey: true }),
                },
                {
                  text: 'Import a session',
                  icon: 'upload',
                  isDisabled: isRunning,
                  onSelect: () => url.set({ import: true }),
                },
                { text: 'Edit', icon: 'settings', onSelect: () => url.set({ edit: true }) },
                { text: 'Delete', icon: 'trash', isDanger: true, onSelect: () => setAsking(true) },
              ]}
            />
          </>
        )
      }
    >
      <FlowCard login={login} />
      <Card title="Settings">
        <LoginFacts login={login} />
      </Card>
      <Timeline id={login.id} />
      {url.has('import') && <ImportSession login={login} onClose={() => url.set({ import: undefined })} />}
      {url.has('edit') && <EditLogin login={login} onClose={() => url.set({ edit: undefined })} />}
      <Confirm
        title={`Delete the login at ${login.domain}?`}
        text="A login in progress is cancelled. The profile and the credential stay."
        action="Delete"
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => remove.mutateAsync()}
      />
    </Page>
  )
}

function LoginFacts({ login }: { login: ManagedAuth }) {
  const { credential, browser } = login
  const reason = login.can_reauth_reason?.replaceAll('_', ' ')
  return (
    <Facts
      facts={[
        [
          'Profile',
          <Link key="profile" to={`/profiles/${encodeURIComponent(login.profile_name)}`} search={keepProject}>
            {login.profile_name}
          </Link>,
        ],
        [
          'Credential',
          credential &&
            (credential.name ?? [credential.provider, credential.path].filter(Boolean).join(': ')),
        ],
        [
          'Logs in again by itself',
          login.auto_reauth ? (login.can_reauth ? 'Yes' : `Not now: ${reason}`) : 'No',
        ],
        [
          'Checks',
          login.health_checks
            ? `Every ${duration((login.health_check_interval ?? 3600) * 1_000)}`
            : 'Only when you ask',
        ],
        ['Last check', login.last_auth_check_at && <Time at={login.last_auth_check_at} />],
        ['Login page', login.login_url && <WebLink url={login.login_url} />],
        ['After the login', login.post_login_url && <WebLink url={login.post_login_url} />],
        ['Further domains', login.allowed_domains?.join(', ')],
        ['Saves what is entered', login.save_credentials ? 'Yes' : 'No'],
        ['Recorded', login.record_session ? 'Yes' : 'No'],
        ['Captchas', login.has_captcha_solver ? 'A solver, then a person' : 'A person'],
        ['Stealth', browser && (browser.stealth ? 'Yes' : 'No')],
        ['Proxy', browser?.proxy?.id ?? browser?.proxy?.mode],
        ['Created', <Time key="created" at={login.created_at} />],
      ]}
    />
  )
}
