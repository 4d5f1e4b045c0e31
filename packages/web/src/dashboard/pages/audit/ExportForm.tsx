// Adds a destination of the export, or changes one. A change pauses it until a test has passed.
import { useState } from 'react'
import type { AuditExportDestination } from '@berth/contracts/audit-exports'
import { useAsk } from '../../api/context.ts'
import { FormDialog, SelectField, TextField } from '../../parts/Form.tsx'
import { filled } from '../../parts/texts.ts'
import { useAct } from '../../parts/use-act.ts'

export const PATH = '/audit-logs/export/destinations'

const empty = {
  bucket: '',
  prefix: '',
  region: 'us-east-1',
  role_arn: '',
  kms_key_id: '',
  endpoint: '',
  access_key_id: '',
  secret_access_key: '',
}
type Name = keyof typeof empty

/** How Berth may write: each way has its own fields. */
const ways = {
  role: ['role_arn', 'kms_key_id'],
  key: ['endpoint', 'access_key_id', 'secret_access_key'],
} as const satisfies Record<string, readonly Name[]>

export interface ExportFormProps {
  readonly destination?: AuditExportDestination
  readonly onClose: () => void
}

const textsOf = (destination: AuditExportDestination): typeof empty => ({
  ...empty,
  ...Object.fromEntries(
    Object.keys(empty).map((name) => [name, destination[name as keyof AuditExportDestination] ?? '']),
  ),
})

export function ExportForm({ destination, onClose }: ExportFormProps) {
  const ask = useAsk()
  const [before] = useState(() => (destination ? textsOf(destination) : empty))
  const [texts, setTexts] = useState(before)
  const [way, setWay] = useState<keyof typeof ways>(before.access_key_id === '' ? 'role' : 'key')
  const field = (name: Name) => ({
    name,
    value: texts[name],
    onChange: (value: string) => setTexts((old) => ({ ...old, [name]: value })),
  })
  // The empty text of one way must not undo the other.
  const used: readonly Name[] = ['bucket', 'prefix', 'region', ...ways[way]]
  const save = useAct({
    run: (signal: AbortSignal) =>
      destination
        ? ask(`${PATH}/${encodeURIComponent(destination.id)}`, {
            method: 'PATCH',
            signal,
            body: entriesOf(
              used.filter((name) => texts[name] !== before[name]),
              texts,
            ),
          })
        : ask(PATH, {
            method: 'POST',
            signal,
            body: {
              type: 's3',
              format: 'jsonl.gz',
              prefix: '',
              ...entriesOf(
                used.filter((name) => filled(texts[name]) !== undefined),
                texts,
              ),
            },
          }),
    done: destination
      ? 'The destination is changed'
      : 'The destination is added, and paused. Test it, then make it active',
    changes: ['audit_export'],
    isQuiet: true,
  })
  const hasSecret = before.access_key_id !== ''
  return (
    <FormDialog
      title={destination ? `Change ${destination.bucket}` : 'Add a destination'}
      text="An S3 bucket, or one of a store that works like it."
      action={destination ? 'Save' : 'Add'}
      onClose={onClose}
      onSend={async (signal) => {
        await save.mutateAsync(signal)
        onClose()
      }}
    >
      <div className="form-grid">
        <TextField label="Bucket" autoFocus {...field('bucket')} />
        <TextField label="Region" {...field('region')} />
      </div>
      <TextField label="Start of the names of objects" isOptional placeholder="berth/" {...field('prefix')} />
      <SelectField
        name="way"
        label="How Berth may write"
        value={way}
        onChange={(value) => setWay(value as keyof typeof ways)}
        options={[
          { value: 'role', text: 'As a role of AWS' },
          { value: 'key', text: 'With an access key' },
        ]}
      />
      {way === 'role' ? (
        <>
          <TextField
            label="ARN of the role"
            placeholder="arn:aws:iam::123456789012:role/audit-export"
            {...field('role_arn')}
          />
          <TextField label="KMS key" isOptional {...field('kms_key_id')} />
        </>
      ) : (
        <>
          <TextField
            label="Address of the store"
            hint="Empty for AWS"
            isOptional
            placeholder="https://s3.example.com"
            {...field('endpoint')}
          />
          <div className="form-grid">
            <TextField label="Access key" {...field('access_key_id')} />
            <TextField
              label="Its secret"
              type="password"
              hint={hasSecret ? 'Empty: as it is' : undefined}
              isOptional={hasSecret}
              {...field('secret_access_key')}
            />
          </div>
        </>
      )}
    </FormDialog>
  )
}

const entriesOf = (names: readonly Name[], texts: typeof empty) =>
  Object.fromEntries(names.map((name) => [name, texts[name].trim()]))
