// Deploys an app: from an archive of this computer, or from a repository that the server fetches.
import { useState } from 'react'
import type { Deployment } from '@berth/contracts/deployments'
import { useQueryClient } from '@tanstack/react-query'
import { useApi } from '../../api/context.ts'
import { upload } from '../../api/upload.ts'
import { Choice } from '../../parts/Choice.tsx'
import { DropZone, UploadProgress } from '../../parts/DropZone.tsx'
import { Check } from '../../parts/Field.tsx'
import { FormDialog, TextField } from '../../parts/Form.tsx'
import { ValueRows, valuesOf, type ValueRow } from '../../parts/ValueRows.tsx'
import { emptyRepository, RepositoryFields, sourceOf } from './RepositoryFields.tsx'

const kinds = { zip: 'Zip archive', github: 'Git repository' } as const
type Kind = keyof typeof kinds

export interface DeployDialogProps {
  readonly onClose: () => void
  readonly onDeployed: (deployment: Deployment) => void
}

export function DeployDialog({ onClose, onDeployed }: DeployDialogProps) {
  const { projectId } = useApi()
  const queries = useQueryClient()
  const [kind, setKind] = useState<Kind>('zip')
  const [file, setFile] = useState<File>()
  const [repository, setRepository] = useState(emptyRepository)
  const [entrypoint, setEntrypoint] = useState('index.ts')
  const [version, setVersion] = useState('latest')
  const [rows, setRows] = useState<readonly ValueRow[]>([])
  const [isForced, setForced] = useState(false)
  const [part, setPart] = useState<number>()
  const send = async (signal: AbortSignal) => {
    const body = new FormData()
    if (version.trim() !== '') body.set('version', version.trim())
    body.set('force', String(isForced))
    for (const [name, value] of Object.entries(valuesOf(rows))) body.set(`env_vars[${name}]`, value)
    if (kind === 'github') body.set('source', JSON.stringify(sourceOf(repository, entrypoint)))
    else {
      body.set('entrypoint_rel_path', entrypoint.trim())
      body.set('file', file!)
    }
    setPart(0)
    try {
      const deployment = await upload<Deployment>('/deployments', {
        method: 'POST',
        body,
        projectId,
        signal,
        onProgress: setPart,
      })
      void queries.invalidateQueries({ queryKey: ['deployment'] })
      onDeployed(deployment)
    } finally {
      setPart(undefined)
    }
  }
  const hasSource = kind === 'zip' ? file !== undefined : repository.url.trim() !== ''
  return (
    <FormDialog
      title="Deploy an app"
      action="Deploy"
      isReady={hasSource && entrypoint.trim() !== ''}
      onClose={onClose}
      onSend={send}
    >
      <Choice label="Deploy from" options={kinds} value={kind} onChange={setKind} />
      {kind === 'zip' ? (
        <DropZone
          label="Drop a zip archive here, or choose one"
          hint="The folder of the app, without node_modules"
          accept=".zip"
          file={file}
          onFile={setFile}
        />
      ) : (
        <RepositoryFields repository={repository} onChange={setRepository} />
      )}
      <div className="form-grid">
        <TextField
          name="entrypoint_rel_path"
          label="Entry point"
          hint="The file that defines the app"
          value={entrypoint}
          onChange={setEntrypoint}
        />
        <TextField name="version" label="Version" isOptional value={version} onChange={setVersion} />
      </div>
      <ValueRows label="Environment variables" name="env_vars" rows={rows} onChange={setRows} />
      <Check
        label="Replace a version with the same name"
        hint="What runs of it may finish."
        isChecked={isForced}
        onChange={setForced}
      />
      <UploadProgress
        part={part}
        working={kind === 'zip' ? 'The server takes the archive' : 'The server takes the request'}
      />
    </FormDialog>
  )
}
