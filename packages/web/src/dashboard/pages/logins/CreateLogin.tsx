import { useId, useState } from 'react'
import type { ManagedAuth } from '@berth/contracts/auth-connections'
import { useQuery } from '@tanstack/react-query'
import { useApi, useAsk } from '../../api/context.ts'
import { Field } from '../../parts/Field.tsx'
import { FormDialog, TextField, useProblemAt } from '../../parts/Form.tsx'
import { useAct } from '../../parts/use-act.ts'
import { newSettings, requestOf } from './settings.ts'
import { SettingsFields } from './SettingsFields.tsx'

export interface CreateLoginProps {
  readonly onClose: () => void
  readonly onCreated: (login: ManagedAuth) => void
}

export function CreateLogin({ onClose, onCreated }: CreateLoginProps) {
  const ask = useAsk()
  const [domain, setDomain] = useState('')
  const [profile, setProfile] = useState('')
  const [settings, setSettings] = useState(newSettings)
  const create = useAct({
    run: (signal: AbortSignal) =>
      ask<ManagedAuth>('/auth/connections', {
        method: 'POST',
        body: { domain: domain.trim(), profile_name: profile.trim(), ...requestOf(settings) },
        signal,
      }),
    done: 'The login is created. Start it when you are ready',
    changes: ['auth_connection', 'profile'],
    isQuiet: true,
    onDone: onCreated,
  })
  return (
    <FormDialog
      title="Create a login"
      action="Create"
      onClose={onClose}
      onSend={(signal) => create.mutateAsync(signal)}
    >
      <TextField
        name="domain"
        label="Website"
        hint="Its domain, such as example.com"
        autoFocus
        value={domain}
        onChange={setDomain}
      />
      <ProfileField value={profile} onChange={setProfile} />
      <SettingsFields settings={settings} onChange={setSettings} />
    </FormDialog>
  )
}

function ProfileField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const { client, power, projectId } = useApi()
  const listId = useId()
  const problem = useProblemAt('profile_name')
  const { data: names = [] } = useQuery({
    queryKey: ['profile', 'offer', projectId ?? null],
    enabled: power.can('profiles:read'),
    queryFn: async ({ signal }) =>
      (await client.profiles.list({ limit: 100 }, { signal }))
        .getPaginatedItems()
        .flatMap(({ name }) => name ?? []),
  })
  return (
    <Field label="Profile" hint="A new name makes a new profile." problem={problem}>
      {(attributes) => (
        <>
          <input
            {...attributes}
            name="profile_name"
            list={listId}
            required
            autoComplete="off"
            value={value}
            onChange={({ target }) => onChange(target.value)}
          />
          <datalist id={listId}>
            {names.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  )
}
