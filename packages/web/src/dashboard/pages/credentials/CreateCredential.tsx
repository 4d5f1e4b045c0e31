import { useState } from 'react'
import { useAsk } from '../../api/context.ts'
import { FormDialog, TextField } from '../../parts/Form.tsx'
import { filled, wordsOf } from '../../parts/texts.ts'
import { useAct } from '../../parts/use-act.ts'
import { newRow, ValueRows, valuesOf } from '../../parts/ValueRows.tsx'

export function CreateCredential({ onClose }: { onClose: () => void }) {
  const ask = useAsk()
  const [name, setName] = useState('')
  const [domain, setDomain] = useState('')
  const [rows, setRows] = useState(
    () => [newRow('email'), newRow('password')] as readonly ReturnType<typeof newRow>[],
  )
  const [sso, setSso] = useState('')
  const [secret, setSecret] = useState('')
  const [domains, setDomains] = useState('')
  const create = useAct({
    run: (signal: AbortSignal) =>
      ask('/credentials', {
        method: 'POST',
        signal,
        body: {
          name: name.trim(),
          domain: domain.trim(),
          values: valuesOf(rows.filter(({ value }) => value !== '')),
          ...(filled(sso) !== undefined && { sso_provider: sso.trim() }),
          ...(filled(secret) !== undefined && { totp_secret: secret.trim() }),
          ...(filled(domains) !== undefined && { allowed_domains: wordsOf(domains) }),
        },
      }),
    done: 'The credential is created',
    changes: ['credential'],
    isQuiet: true,
  })
  return (
    <FormDialog
      title="Create a credential"
      text="What you enter here cannot be read again, by nobody."
      action="Create"
      onClose={onClose}
      onSend={async (signal) => {
        await create.mutateAsync(signal)
        onClose()
      }}
    >
      <div className="form-grid">
        <TextField
          name="name"
          label="Name"
          hint="Unique in the project"
          autoFocus
          value={name}
          onChange={setName}
        />
        <TextField
          name="domain"
          label="Website"
          placeholder="example.com"
          value={domain}
          onChange={setDomain}
        />
      </div>
      <ValueRows label="Values" rows={rows} onChange={setRows} />
      <TextField
        name="totp_secret"
        label="Secret for one-time codes"
        hint="As an authenticator app takes it: letters and digits, or an otpauth address"
        type="password"
        isOptional
        value={secret}
        onChange={setSecret}
      />
      <details>
        <summary>More options</summary>
        <div className="form">
          <TextField
            name="sso_provider"
            label="Sign in with"
            hint="A provider such as google. The login clicks its button first."
            isOptional
            value={sso}
            onChange={setSso}
          />
          <TextField
            name="allowed_domains"
            label="Further domains where the values may be typed"
            hint="Separated by spaces"
            isOptional
            value={domains}
            onChange={setDomains}
          />
        </div>
      </details>
    </FormDialog>
  )
}
