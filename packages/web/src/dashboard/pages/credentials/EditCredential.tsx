import { useState } from 'react'
import type { Credential } from '@berth/contracts/credentials'
import { useAsk } from '../../api/context.ts'
import { FormDialog, TextField } from '../../parts/Form.tsx'
import { filled, wordsOf } from '../../parts/texts.ts'
import { KeepNames } from '../../parts/KeepNames.tsx'
import { useAct } from '../../parts/use-act.ts'
import { ValueRows, valuesOf, type ValueRow } from '../../parts/ValueRows.tsx'

export function EditCredential({ credential, onClose }: { credential: Credential; onClose: () => void }) {
  const ask = useAsk()
  const [name, setName] = useState(credential.name)
  const [removed, setRemoved] = useState<ReadonlySet<string>>(new Set())
  const [rows, setRows] = useState<readonly ValueRow[]>([])
  const [secret, setSecret] = useState('')
  const [sso, setSso] = useState(credential.sso_provider ?? '')
  const domainsBefore = (credential.allowed_domains ?? []).join(' ')
  const [domains, setDomains] = useState(domainsBefore)
  const save = useAct({
    run: (signal: AbortSignal) =>
      ask(`/credentials/${encodeURIComponent(credential.id)}`, {
        method: 'PATCH',
        signal,
        body: {
          ...(name !== credential.name && { name: name.trim() }),
          ...(rows.length > 0 && { values: valuesOf(rows) }),
          ...(removed.size > 0 && { remove_value_keys: [...removed] }),
          ...(filled(secret) !== undefined && { totp_secret: secret.trim() }),
          ...(sso !== (credential.sso_provider ?? '') && { sso_provider: sso.trim() }),
          ...(domains !== domainsBefore && { allowed_domains: wordsOf(domains) }),
        },
      }),
    done: 'The credential is changed',
    changes: ['credential'],
    isQuiet: true,
  })
  const keys = credential.value_keys ?? []
  return (
    <FormDialog
      title={`Change ${credential.name}`}
      action="Save"
      onClose={onClose}
      onSend={async (signal) => {
        await save.mutateAsync(signal)
        onClose()
      }}
    >
      <TextField name="name" label="Name" value={name} onChange={setName} />
      <KeepNames label="Values to keep" names={keys} removed={removed} onChange={setRemoved} />
      <ValueRows label="Values to add or replace" rows={rows} onChange={setRows} />
      <TextField
        name="totp_secret"
        label="New secret for one-time codes"
        type="password"
        isOptional
        value={secret}
        onChange={setSecret}
      />
      <TextField name="sso_provider" label="Sign in with" isOptional value={sso} onChange={setSso} />
      <TextField
        name="allowed_domains"
        label="Further domains where the values may be typed"
        isOptional
        value={domains}
        onChange={setDomains}
      />
    </FormDialog>
  )
}
