// Gives something another name. A name is taken back as easily as it is given.
import { useState } from 'react'
import { FormDialog, TextField } from './Form.tsx'
import { say, sayProblem } from './toasts.ts'

export interface RenameDialogProps {
  readonly what: string
  readonly name: string
  readonly hint?: string
  /** An empty text means no name. */
  readonly isOptional?: boolean
  readonly onSend: (name: string) => Promise<unknown>
  readonly onClose: () => void
}

export function RenameDialog({ what, name, hint, isOptional = false, onSend, onClose }: RenameDialogProps) {
  const [text, setText] = useState(name)
  const canUndo = isOptional || name !== ''
  const send = async () => {
    await onSend(text.trim())
    say(`The ${what} is renamed`, {
      ...(canUndo && { undo: () => void onSend(name).catch(sayProblem) }),
    })
    onClose()
  }
  return (
    <FormDialog
      title={`Rename the ${what}`}
      action="Rename"
      isReady={(isOptional || text.trim() !== '') && text !== name}
      onClose={onClose}
      onSend={send}
    >
      <TextField
        name="name"
        label="Name"
        hint={hint}
        isOptional={isOptional}
        maxLength={255}
        value={text}
        onChange={setText}
        autoFocus
      />
    </FormDialog>
  )
}
