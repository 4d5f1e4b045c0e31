import { useState } from 'react'
import { providerTypes, type ProviderType } from '@berth/contracts/credential-providers'
import { useAsk } from '../../api/context.ts'
import { filled, FormDialog, SelectField, TextField } from '../../parts/Form.tsx'
import { useAct } from '../../parts/use-act.ts'
import { typeWords } from './ProviderList.tsx'

export function CreateProvider({ onClose }: { onClose: () => void }) {
  const ask = useAsk()
  const [name, setName] = useState('')
  const [type, setType] = useState<ProviderType>('onepassword')
  const [token, setToken] = useState('')
  const [serverUrl, setServerUrl] = useState('')
  const create = useAct({
    run: (signal: AbortSignal) =>
      ask('/org/credential_providers', {
        method: 'POST',
        signal,
        body: {
          name: name.trim(),
          provider_type: type,
          token: token.trim(),
          ...(filled(serverUrl) !== undefined && { server_url: serverUrl.trim() }),
        },
      }),
    done: 'The provider is added. Test it',
    changes: ['credential_provider'],
    isQuiet: true,
  })
  return (
    <FormDialog
      title="Add a provider"
      action="Add"
      onClose={onClose}
      onSend={async (signal) => {
        await create.mutateAsync(signal)
        onClose()
      }}
    >
      <TextField name="name" label="Name" autoFocus value={name} onChange={setName} />
      <SelectField
        name="provider_type"
        label="Kind"
        value={type}
        onChange={(value) => setType(value as ProviderType)}
        options={providerTypes.map((each) => ({ value: each, text: typeWords[each] }))}
      />
      <TextField
        name="token"
        label="Token"
        hint="Of a service account, a Connect server, or Vault. Stored encrypted and never shown."
        type="password"
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
    </FormDialog>
  )
}
