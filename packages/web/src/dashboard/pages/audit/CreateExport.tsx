import { useState } from 'react'
import { useAsk } from '../../api/context.ts'
import { filled, FormDialog, SelectField, TextField } from '../../parts/Form.tsx'
import { useAct } from '../../parts/use-act.ts'
import { PATH } from './ExportList.tsx'

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

export function CreateExport({ onClose }: { onClose: () => void }) {
  const ask = useAsk()
  const [way, setWay] = useState<keyof typeof ways>('role')
  const [texts, setTexts] = useState(empty)
  const field = (name: Name) => ({
    name,
    value: texts[name],
    onChange: (value: string) => setTexts((old) => ({ ...old, [name]: value })),
  })
  const create = useAct({
    run: (signal: AbortSignal) =>
      ask(PATH, {
        method: 'POST',
        signal,
        body: {
          type: 's3',
          format: 'jsonl.gz',
          bucket: texts.bucket.trim(),
          prefix: texts.prefix,
          region: texts.region.trim(),
          ...Object.fromEntries(
            ways[way].flatMap((name) => {
              const value = filled(texts[name])
              return value === undefined ? [] : [[name, value]]
            }),
          ),
        },
      }),
    done: 'The destination is added, and paused. Test it, then make it active',
    changes: ['audit_export'],
    isQuiet: true,
  })
  return (
    <FormDialog
      title="Add a destination"
      text="An S3 bucket, or one of a store that works like it."
      action="Add"
      onClose={onClose}
      onSend={async (signal) => {
        await create.mutateAsync(signal)
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
            <TextField label="Its secret" type="password" {...field('secret_access_key')} />
          </div>
        </>
      )}
    </FormDialog>
  )
}
