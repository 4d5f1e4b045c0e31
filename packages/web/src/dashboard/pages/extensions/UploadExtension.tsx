import { useState } from 'react'
import { useApi } from '../../api/context.ts'
import { DropZone, UploadProgress } from '../../parts/DropZone.tsx'
import { FormDialog } from '../../parts/Form.tsx'
import { NameField } from './NameField.tsx'
import { useSendExtension } from './use-send.ts'

export function UploadExtension({ onClose }: { onClose: () => void }) {
  const { projectId } = useApi()
  const [file, setFile] = useState<File>()
  const [name, setName] = useState('')
  const { part, send } = useSendExtension(projectId)
  return (
    <FormDialog
      title="Upload an extension"
      action="Upload"
      isReady={file !== undefined}
      onClose={onClose}
      onSend={async (signal) => {
        await send(file!, name, signal)
        onClose()
      }}
    >
      <DropZone
        label="Drop a zip archive or a crx file here, or choose one"
        hint="Up to 100 MB, with manifest version 3"
        accept=".zip,.crx"
        file={file}
        onFile={setFile}
      />
      <NameField name={name} onChange={setName} />
      <UploadProgress part={part} working="The server checks the archive" />
    </FormDialog>
  )
}
