import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../api/context.ts'
import { Check } from '../../parts/Field.tsx'
import { SelectField, TextField } from '../../parts/Form.tsx'
import type { Settings } from './settings.ts'

export interface SettingsFieldsProps {
  readonly settings: Settings
  readonly onChange: (settings: Settings) => void
}

export function SettingsFields({ settings, onChange }: SettingsFieldsProps) {
  const { proxies, credentials, providers } = useOffers()
  const set = (changes: Partial<Settings>) => onChange({ ...settings, ...changes })
  const isOfProvider = settings.credential.startsWith('provider:') && settings.credential !== 'provider:'
  return (
    <>
      <SelectField
        name="credential"
        label="Credential"
        hint="Without one, you enter the values at the first login."
        value={settings.credential}
        onChange={(credential) => set({ credential })}
        options={[
          { value: '', text: 'None' },
          ...credentials.map((name) => ({ value: `name:${name}`, text: name })),
          ...providers.map((name) => ({ value: `provider:${name}`, text: `An item of ${name}` })),
          ...(providers.length > 0 ? [{ value: 'provider:', text: 'The first match of any provider' }] : []),
        ]}
      />
      {isOfProvider && (
        <TextField
          name="credential.path"
          label="Path of the item"
          hint="Such as Vault/Item. Empty: the first item for the website."
          isOptional
          value={settings.path}
          onChange={(path) => set({ path })}
        />
      )}
      <Check
        label="Save what is entered"
        hint="After each login that works; never one-time codes."
        isChecked={settings.savesCredentials}
        onChange={(savesCredentials) => set({ savesCredentials })}
      />
      <Check
        label="Check regularly that it is still logged in"
        isChecked={settings.hasChecks}
        onChange={(hasChecks) => set({ hasChecks })}
      />
      {settings.hasChecks && (
        <>
          <Check
            label="Log in again by itself"
            hint="When a check finds it logged out, and the values are known."
            isChecked={settings.logsInAgain}
            onChange={(logsInAgain) => set({ logsInAgain })}
          />
          <TextField
            name="health_check_interval"
            label="Seconds between checks"
            type="number"
            min={300}
            max={86_400}
            value={settings.interval}
            onChange={(interval) => set({ interval })}
          />
        </>
      )}
      <details>
        <summary>More options</summary>
        <div className="form">
          <TextField
            name="login_url"
            label="Address of the login page"
            hint="When it cannot be found from the website."
            isOptional
            value={settings.loginUrl}
            onChange={(loginUrl) => set({ loginUrl })}
          />
          <TextField
            name="allowed_domains"
            label="Further domains that the login may lead to"
            hint="Separated by spaces. The usual identity providers are allowed."
            isOptional
            value={settings.allowedDomains}
            onChange={(allowedDomains) => set({ allowedDomains })}
          />
          <SelectField
            name="browser.proxy"
            label="Proxy"
            value={settings.proxyId}
            onChange={(proxyId) => set({ proxyId })}
            options={[
              { value: '', text: 'None' },
              ...proxies.map(({ id, name }) => ({ value: id, text: name ?? id })),
            ]}
          />
          <Check
            label="Stealth"
            hint="Hides signs of automation from the website."
            isChecked={settings.isStealth}
            onChange={(isStealth) => set({ isStealth })}
          />
          <Check
            label="Record its sessions"
            isChecked={settings.isRecorded}
            onChange={(isRecorded) => set({ isRecorded })}
          />
        </div>
      </details>
    </>
  )
}

/** What can be chosen, as far as the key sees it. */
function useOffers() {
  const { client, power, projectId } = useApi()
  const scope = projectId ?? null
  const { data: proxies = [] } = useQuery({
    queryKey: ['proxy', 'offer', scope],
    enabled: power.can('proxies:read'),
    queryFn: async ({ signal }) =>
      (await client.proxies.list({ limit: 100 }, { signal }))
        .getPaginatedItems()
        .flatMap(({ id, name }) => (id === undefined ? [] : [{ id, name }])),
  })
  const { data: credentials = [] } = useQuery({
    queryKey: ['credential', 'offer', scope],
    enabled: power.can('credentials:read'),
    queryFn: async ({ signal }) =>
      (await client.credentials.list({ limit: 100 }, { signal })).getPaginatedItems().map(({ name }) => name),
  })
  const { data: providers = [] } = useQuery({
    queryKey: ['credential_provider', 'offer', scope],
    enabled: power.can('credentials:read'),
    queryFn: async ({ signal }) =>
      (await client.credentialProviders.list({ limit: 100 }, { signal }))
        .getPaginatedItems()
        .map(({ name }) => name),
  })
  return { proxies, credentials, providers }
}
