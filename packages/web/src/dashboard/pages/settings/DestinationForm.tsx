// Adds a destination of telemetry, or changes one. Only what was changed is sent.
import { useState } from 'react'
import type { OtlpDestination } from '@berth/contracts/telemetry-destinations'
import { useAsk } from '../../api/context.ts'
import { FormDialog, TextField } from '../../parts/Form.tsx'
import { KeepNames } from '../../parts/KeepNames.tsx'
import { filled } from '../../parts/texts.ts'
import { useAct } from '../../parts/use-act.ts'
import { newRow, ValueRows, valuesOf, type ValueRow } from '../../parts/ValueRows.tsx'

export const PATH = '/telemetry/destinations'

export interface DestinationFormProps {
  readonly destination?: OtlpDestination
  readonly onClose: () => void
}

export function DestinationForm({ destination, onClose }: DestinationFormProps) {
  const ask = useAsk()
  const [name, setName] = useState(destination?.name ?? '')
  const [endpoint, setEndpoint] = useState(destination?.endpoint ?? '')
  const [about, setAbout] = useState(destination?.description ?? '')
  const [removed, setRemoved] = useState<ReadonlySet<string>>(new Set())
  const [rows, setRows] = useState<readonly ValueRow[]>(() => (destination ? [] : [newRow('Authorization')]))
  const headers: Record<string, string | null> = {
    ...Object.fromEntries([...removed].map((each) => [each, null])),
    ...valuesOf(rows.filter(({ value }) => value !== '')),
  }
  const save = useAct({
    run: (signal: AbortSignal) =>
      destination
        ? ask(`${PATH}/${encodeURIComponent(destination.id)}`, {
            method: 'PATCH',
            signal,
            body: {
              ...(name !== destination.name && { name: name.trim() }),
              ...(endpoint !== destination.endpoint && { endpoint: endpoint.trim() }),
              ...(about !== (destination.description ?? '') && { description: about.trim() }),
              ...(Object.keys(headers).length > 0 && { headers }),
            },
          })
        : ask(PATH, {
            method: 'POST',
            signal,
            body: {
              name: name.trim(),
              endpoint: endpoint.trim(),
              headers,
              ...(filled(about) !== undefined && { description: about.trim() }),
            },
          }),
    done: destination ? 'The destination is changed' : 'The destination is added',
    changes: ['telemetry_destination'],
    isQuiet: true,
  })
  return (
    <FormDialog
      title={destination ? `Change ${destination.name}` : 'Add a telemetry destination'}
      text="A session exports to it when its telemetry names it."
      action={destination ? 'Save' : 'Add'}
      onClose={onClose}
      onSend={async (signal) => {
        await save.mutateAsync(signal)
        onClose()
      }}
    >
      <TextField name="name" label="Name" value={name} onChange={setName} />
      <TextField
        name="endpoint"
        label="Address of the collector"
        hint="OTLP over HTTP; /v1/logs is added"
        placeholder="https://otlp.example.com"
        value={endpoint}
        onChange={setEndpoint}
      />
      <KeepNames
        label="Headers to keep"
        names={Object.keys(destination?.headers ?? {})}
        removed={removed}
        onChange={setRemoved}
      />
      <ValueRows
        label={destination ? 'Headers to add or replace' : 'Headers'}
        name="headers"
        rows={rows}
        onChange={setRows}
      />
      <TextField name="description" label="Description" isOptional value={about} onChange={setAbout} />
    </FormDialog>
  )
}
