import { useState } from 'react'
import type { ProjectLimits } from '@berth/contracts/projects'
import { useAsk, usePower } from '../../api/context.ts'
import { FormDialog, TextField } from '../../parts/Form.tsx'
import { filled } from '../../parts/texts.ts'
import { Pending } from '../../parts/Notes.tsx'
import { Card, Facts } from '../../parts/Page.tsx'
import { bytes } from '../../parts/Time.tsx'
import { useAct } from '../../parts/use-act.ts'
import { useOne } from '../../parts/use-one.ts'
import { useUrl } from '../../parts/use-url.ts'

const words: readonly (readonly [keyof ProjectLimits, string])[] = [
  ['max_concurrent_sessions', 'Sessions at once'],
  ['max_pooled_sessions', 'Pooled sessions'],
  ['max_concurrent_invocations', 'Invocations at once'],
  ['max_storage_bytes', 'Bytes stored'],
]

const shown = (name: keyof ProjectLimits, value: number | null) =>
  value === null ? 'No limit of its own' : name === 'max_storage_bytes' ? bytes(value) : value

export function LimitsCard({ id }: { id: string }) {
  const ask = useAsk()
  const power = usePower()
  const url = useUrl()
  const path = `/org/projects/${encodeURIComponent(id)}/limits`
  const query = useOne<ProjectLimits>(['project', id, 'limits'], (signal) => ask(path, { signal }))
  const { data: limits } = query
  const canWrite = power.can('projects:write') && power.isOrganization
  return (
    <Card
      title="Limits"
      actions={
        canWrite && (
          <button type="button" disabled={!limits} onClick={() => url.set({ edit: 'limits' })}>
            Edit
          </button>
        )
      }
    >
      {limits ? (
        <Facts facts={words.map(([name, text]) => [text, shown(name, limits[name])])} />
      ) : (
        <Pending query={query} what="the limits" />
      )}
      {limits && canWrite && url.text('edit') === 'limits' && (
        <EditLimits path={path} limits={limits} onClose={() => url.set({ edit: undefined })} />
      )}
    </Card>
  )
}

interface EditLimitsProps {
  readonly path: string
  readonly limits: ProjectLimits
  readonly onClose: () => void
}

type Texts = Record<keyof ProjectLimits, string>

function EditLimits({ path, limits, onClose }: EditLimitsProps) {
  const ask = useAsk()
  const [texts, setTexts] = useState(
    () => Object.fromEntries(words.map(([name]) => [name, String(limits[name] ?? '')])) as Texts,
  )
  const save = useAct({
    run: (signal: AbortSignal) =>
      ask(path, {
        method: 'PATCH',
        signal,
        body: Object.fromEntries(
          words.map(([name]) => [name, filled(texts[name]) === undefined ? null : Number(texts[name])]),
        ),
      }),
    done: 'The limits are changed',
    changes: ['project', 'organization'],
    isQuiet: true,
  })
  return (
    <FormDialog
      title="Change the limits"
      text="An empty field means no limit of its own. The limits of the organisation always count."
      action="Save"
      onClose={onClose}
      onSend={async (signal) => {
        await save.mutateAsync(signal)
        onClose()
      }}
    >
      {words.map(([name, text]) => (
        <TextField
          key={name}
          name={name}
          label={text}
          type="number"
          min={0}
          isOptional
          value={texts[name]}
          onChange={(value) => setTexts((old) => ({ ...old, [name]: value }))}
        />
      ))}
    </FormDialog>
  )
}
