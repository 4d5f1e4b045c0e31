// Adds a provider of credentials, or changes one. Only what was changed is sent.
import { useState } from 'react'
import {
  providerTypes,
  type CredentialProvider,
  type ProviderType,
} from '@berth/contracts/credential-providers'
import { useQuery } from '@tanstack/react-query'
import { useApi, useAsk } from '../../api/context.ts'
import { Check } from '../../parts/Field.tsx'
import { FormDialog, SelectField, TextField } from '../../parts/Form.tsx'
import { filled } from '../../parts/texts.ts'
import { useAct } from '../../parts/use-act.ts'
import { typeWords } from './ProviderList.tsx'

const PATH = '/org/credential_providers'

export interface ProviderFormProps {
  readonly provider?: CredentialProvider
  readonly onClose: () => void
}

export function ProviderForm({ provider, onClose }: ProviderFormProps) {
  const ask = useAsk()
  const [name, setName] = useState(provider?.name ?? '')
  const [type, setType] = useState<ProviderType>(provider?.provider_type ?? 'onepassword')
  const [token, setToken] = useState('')
  const [serverUrl, setServerUrl] = useState(provider?.server_url ?? '')
  const [priority, setPriority] = useState(String(provider?.priority ?? ''))
  const [seconds, setSeconds] = useState(String(provider?.cache_ttl_seconds ?? ''))
  const [projects, setProjects] = useState(provider?.project_ids ?? [])
  const save = useAct({
    run: (signal: AbortSignal) =>
      provider
        ? ask(`${PATH}/${encodeURIComponent(provider.id)}`, {
            method: 'PATCH',
            signal,
            body: {
              ...(name !== provider.name && { name: name.trim() }),
              ...(filled(token) !== undefined && { token: token.trim() }),
              ...(serverUrl !== (provider.server_url ?? '') && { server_url: serverUrl.trim() }),
              ...(Number(priority) !== provider.priority && { priority: Number(priority) }),
              ...(Number(seconds) !== provider.cache_ttl_seconds && { cache_ttl_seconds: Number(seconds) }),
              ...(projects !== provider.project_ids && { project_ids: projects }),
            },
          })
        : ask(PATH, {
            method: 'POST',
            signal,
            body: {
              name: name.trim(),
              provider_type: type,
              token: token.trim(),
              ...(filled(serverUrl) !== undefined && { server_url: serverUrl.trim() }),
            },
          }),
    done: provider ? 'The provider is changed' : 'The provider is added. Test it',
    changes: ['credential_provider'],
    isQuiet: true,
  })
  return (
    <FormDialog
      title={provider ? `Change ${provider.name}` : 'Add a provider'}
      action={provider ? 'Save' : 'Add'}
      onClose={onClose}
      onSend={async (signal) => {
        await save.mutateAsync(signal)
        onClose()
      }}
    >
      <TextField name="name" label="Name" value={name} onChange={setName} />
      {!provider && (
        <SelectField
          name="provider_type"
          label="Kind"
          value={type}
          onChange={(value) => setType(value as ProviderType)}
          options={providerTypes.map((each) => ({ value: each, text: typeWords[each] }))}
        />
      )}
      <TextField
        name="token"
        label={provider ? 'New token' : 'Token'}
        hint={
          provider
            ? 'Empty: as it is'
            : 'Of a service account, a Connect server, or Vault. Stored encrypted and never shown.'
        }
        type="password"
        isOptional={provider !== undefined}
        value={token}
        onChange={setToken}
      />
      <TextField
        name="server_url"
        label="Address of the server"
        hint={type === 'onepassword' ? 'Of a Connect server; empty for a service account' : 'Of Vault'}
        isOptional={type === 'onepassword'}
        value={serverUrl}
        onChange={setServerUrl}
      />
      {provider && (
        <>
          <div className="form-grid">
            <TextField
              name="priority"
              label="Asked as number"
              hint="The lowest is asked first"
              type="number"
              min={0}
              value={priority}
              onChange={setPriority}
            />
            <TextField
              name="cache_ttl_seconds"
              label="Keep the list of items"
              hint="Seconds. Values are never kept."
              type="number"
              min={0}
              value={seconds}
              onChange={setSeconds}
            />
          </div>
          <Projects chosen={projects} onChange={setProjects} />
        </>
      )}
    </FormDialog>
  )
}

interface ProjectsProps {
  readonly chosen: readonly string[]
  readonly onChange: (ids: string[]) => void
}

/** Whose logins may use it. */
function Projects({ chosen, onChange }: ProjectsProps) {
  const { client, power } = useApi()
  const { data: projects = [] } = useQuery({
    queryKey: ['project', 'choice'],
    enabled: power.can('projects:read'),
    queryFn: async () => (await client.projects.list({ limit: 100 })).getPaginatedItems(),
  })
  if (projects.length === 0) return null
  return (
    <fieldset>
      <legend>Projects whose logins may use it</legend>
      <div className="form-grid">
        {projects.map(({ id, name }) => (
          <Check
            key={id}
            label={name}
            isChecked={chosen.includes(id)}
            onChange={(isChosen) =>
              onChange(isChosen ? [...chosen, id] : chosen.filter((each) => each !== id))
            }
          />
        ))}
      </div>
    </fieldset>
  )
}
