// What the organisation may use, and what it uses. The operator sets most of it.
import { useState } from 'react'
import type { Entitlements } from '@berth/contracts/entitlements'
import type { OrganizationLimits as Limits } from '@berth/contracts/organization'
import { useQuery } from '@tanstack/react-query'
import { useAsk, usePower } from '../../api/context.ts'
import { Badge } from '../../parts/Badge.tsx'
import { FormDialog, TextField } from '../../parts/Form.tsx'
import { filled } from '../../parts/texts.ts'
import { Pending } from '../../parts/Notes.tsx'
import { Card, Facts } from '../../parts/Page.tsx'
import { duration } from '../../parts/Time.tsx'
import { useAct } from '../../parts/use-act.ts'
import { useOne } from '../../parts/use-one.ts'
import { useUrl } from '../../parts/use-url.ts'

export function OrganizationLimits() {
  const ask = useAsk()
  const power = usePower()
  const url = useUrl()
  const query = useOne<Limits>(['organization', 'limits'], (signal) => ask('/org/limits', { signal }))
  const { data: limits } = query
  const canWrite = power.can('projects:write') && power.isOrganization
  return (
    <Card
      title="Limits of the organisation"
      actions={
        canWrite && (
          <button type="button" disabled={!limits} onClick={() => url.set({ edit: 'limits' })}>
            Edit
          </button>
        )
      }
    >
      {limits ? (
        <Facts
          facts={[
            ['Sessions now', limits.concurrent_sessions_used],
            ['Sessions at once', limits.max_concurrent_sessions],
            ['Can be created now', limits.concurrent_sessions_available ?? 'Any number'],
            ['Pooled sessions', limits.max_pooled_sessions],
            ['Invocations at once', limits.max_concurrent_invocations],
            ['Sessions of each project', limits.default_project_max_concurrent_sessions ?? 'No limit'],
            ['Logins', `${limits.auth_connections_used} of ${limits.max_auth_connections ?? 'any number'}`],
            ['Shortest time between checks', duration(limits.min_health_check_interval_seconds * 1_000)],
          ]}
        />
      ) : (
        <Pending query={query} what="the limits" />
      )}
      {limits && canWrite && url.text('edit') === 'limits' && (
        <EditDefault
          current={limits.default_project_max_concurrent_sessions}
          onClose={() => url.set({ edit: undefined })}
        />
      )}
    </Card>
  )
}

function EditDefault({ current, onClose }: { current: number | null; onClose: () => void }) {
  const ask = useAsk()
  const name = 'default_project_max_concurrent_sessions'
  const [text, setText] = useState(String(current ?? ''))
  const save = useAct({
    run: (signal: AbortSignal) =>
      ask('/org/limits', {
        method: 'PATCH',
        signal,
        body: { [name]: filled(text) === undefined ? null : Number(text) },
      }),
    done: 'The limit is changed',
    changes: ['organization'],
    isQuiet: true,
  })
  return (
    <FormDialog
      title="Change the limit of projects"
      text="The operator sets the other limits, in the settings of the server."
      action="Save"
      onClose={onClose}
      onSend={async (signal) => {
        await save.mutateAsync(signal)
        onClose()
      }}
    >
      <TextField
        name={name}
        label="Sessions of each project"
        hint="For projects without a limit of their own. Empty: no limit."
        type="number"
        min={0}
        isOptional
        value={text}
        onChange={setText}
      />
    </FormDialog>
  )
}

export function Features() {
  const ask = useAsk()
  const query = useQuery({
    queryKey: ['organization', 'entitlements'],
    queryFn: ({ signal }) => ask<Entitlements>('/org/entitlements', { signal }),
  })
  const { data } = query
  return (
    <Card title="What this server offers">
      {data ? (
        <Facts
          facts={Object.entries(data.features).map(([name, { enabled }]) => [
            sentence(name),
            <Badge key={name} tone={enabled ? 'good' : 'quiet'}>
              {enabled ? 'Yes' : 'No'}
            </Badge>,
          ])}
        />
      ) : (
        <Pending query={query} what="what is offered" />
      )}
    </Card>
  )
}

function sentence(name: string): string {
  const text = name
    .replaceAll('_', ' ')
    .replace(/\bio\b/, 'transfer')
    .replace('gpu', 'GPU')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
