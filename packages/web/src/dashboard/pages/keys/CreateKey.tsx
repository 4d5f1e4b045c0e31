import { useState } from 'react'
import type { CreatedApiKey } from '@berth/contracts/api-keys'
import { useQuery } from '@tanstack/react-query'
import { useApi, useAsk } from '../../api/context.ts'
import { Check } from '../../parts/Field.tsx'
import { FormDialog, SelectField, TextField } from '../../parts/Form.tsx'
import { filled } from '../../parts/texts.ts'
import { useAct } from '../../parts/use-act.ts'
import { noAccess, scopesOf, ScopeTree } from './ScopeTree.tsx'

export interface CreateKeyProps {
  readonly onClose: () => void
  readonly onCreated: (created: CreatedApiKey) => void
}

export function CreateKey({ onClose, onCreated }: CreateKeyProps) {
  const ask = useAsk()
  const { client, power, projectId } = useApi()
  const own = power.signIn
  const [name, setName] = useState('')
  const [days, setDays] = useState('')
  const [project, setProject] = useState(own.project?.id ?? projectId ?? '')
  const [isFull, setFull] = useState(own.key.scopes === null)
  const [accesses, setAccesses] = useState(noAccess)
  const { data: projects = [] } = useQuery({
    queryKey: ['project', 'choice'],
    enabled: power.isOrganization && power.can('projects:read'),
    queryFn: async () => (await client.projects.list({ limit: 100 })).getPaginatedItems(),
  })
  const create = useAct({
    run: (signal: AbortSignal) =>
      ask<CreatedApiKey>('/org/api_keys', {
        method: 'POST',
        signal,
        // The whole organisation makes keys for any project.
        ...(power.isOrganization && { projectId: undefined }),
        body: {
          name: name.trim(),
          ...(project !== '' && { project_id: project }),
          ...(filled(days) !== undefined && { days_to_expire: Number(days) }),
          ...(!isFull && { scopes: scopesOf(accesses) }),
        },
      }),
    changes: ['api_key'],
    isQuiet: true,
    onDone: (answer) => {
      onClose()
      onCreated(answer)
    },
  })
  const isReady = name.trim() !== '' && (isFull || scopesOf(accesses).length > 0)
  return (
    <FormDialog
      title="Create a key"
      action="Create"
      isReady={isReady}
      onClose={onClose}
      onSend={(signal) => create.mutateAsync(signal)}
    >
      <div className="form-grid">
        <TextField name="name" label="Name" autoFocus value={name} onChange={setName} />
        <TextField
          name="days_to_expire"
          label="Days until it ends"
          hint="Empty: never, or with your own key"
          type="number"
          min={1}
          max={3650}
          isOptional
          value={days}
          onChange={setDays}
        />
      </div>
      {power.isOrganization && (
        <SelectField
          name="project_id"
          label="Project"
          value={project}
          onChange={setProject}
          options={[
            { value: '', text: 'Whole organisation' },
            ...projects.map((each) => ({ value: each.id, text: each.name })),
          ]}
        />
      )}
      <Check
        label={own.key.scopes === null ? 'It may do everything' : 'It may do all that your key may do'}
        isChecked={isFull}
        onChange={setFull}
      />
      {!isFull && <ScopeTree accesses={accesses} onChange={setAccesses} />}
    </FormDialog>
  )
}
