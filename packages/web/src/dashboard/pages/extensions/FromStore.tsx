// Takes an extension from the Chrome Web Store through the server, and keeps it in the project.
import { useState } from 'react'
import { refusalOf } from '../../api/client.ts'
import { useApi } from '../../api/context.ts'
import { UploadProgress } from '../../parts/DropZone.tsx'
import { FormDialog, SelectField, TextField } from '../../parts/Form.tsx'
import { NameField } from './NameField.tsx'
import { useSendExtension } from './use-send.ts'

export function FromStore({ onClose }: { onClose: () => void }) {
  const { projectId } = useApi()
  const [address, setAddress] = useState('')
  const [os, setOs] = useState('linux')
  const [name, setName] = useState('')
  const [isFetching, setFetching] = useState(false)
  const { part, send } = useSendExtension(projectId)
  const fetchArchive = async (signal: AbortSignal) => {
    setFetching(true)
    try {
      const query = new URLSearchParams({ url: address.trim(), os })
      const answer = await fetch(`/extensions/from_chrome_store?${query.toString()}`, { signal })
      if (!answer.ok) throw await refusalOf(answer)
      return new File([await answer.blob()], 'extension.zip')
    } finally {
      setFetching(false)
    }
  }
  return (
    <FormDialog
      title="From the Chrome Web Store"
      text="The server fetches the extension from the store and keeps it."
      action="Add"
      isReady={address.trim() !== ''}
      onClose={onClose}
      onSend={async (signal) => {
        await send(await fetchArchive(signal), name, signal)
        onClose()
      }}
    >
      <TextField
        name="url"
        label="Address in the store, or id"
        placeholder="https://chromewebstore.google.com/detail/…"
        autoFocus
        value={address}
        onChange={setAddress}
      />
      <SelectField
        name="os"
        label="For the system"
        hint="Few extensions differ. Sessions run Linux."
        value={os}
        onChange={setOs}
        options={[
          { value: 'linux', text: 'Linux' },
          { value: 'mac', text: 'macOS' },
          { value: 'win', text: 'Windows' },
        ]}
      />
      <NameField name={name} onChange={setName} />
      {isFetching && (
        <p className="upload-progress" role="status">
          <progress aria-label="Download from the store" /> The server fetches it from the store
        </p>
      )}
      <UploadProgress part={part} working="The server checks the archive" />
    </FormDialog>
  )
}
