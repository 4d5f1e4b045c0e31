import { useState } from 'react'
import { FormDialog, TextField } from './Form.tsx'

export interface RenameDialogProps {
  readonly what: string
  readonly name: string
  readonly hint?: string
  readonly onSend: (name: string) => Promise<unknown>
  readonly onClose: () => void
}

export function RenameDialog({ what, name, hint, onSend, onClose }: RenameDialogProps) {
  const [text, setText] = useState(name)
  return (
    <FormDialog
      title={`Rename the ${what}`}
      action="Rename"
      isReady={text.trim() !== '' && text !== name}
      onClose={onClose}
      onSend={async () => {
        await onSend(text.trim())
        onClose()
      }}
    >
      <TextField name="name" label="Name" hint={hint} value={text} onChange={setText} autoFocus />
    </FormDialog>
  )
}
