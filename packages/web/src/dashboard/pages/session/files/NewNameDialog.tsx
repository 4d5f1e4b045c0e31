import { useState } from 'react'
import { useApi } from '../../../api/context.ts'
import { problemOf } from '../../../api/problem.ts'
import { Dialog } from '../../../parts/Dialog.tsx'
import { Field } from '../../../parts/Field.tsx'
import { useAct } from '../../../parts/use-act.ts'
import { useSession } from '../session.ts'
import { join, type FileEntry } from './file-calls.ts'

export type NameTask =
  | { readonly kind: 'file' | 'folder'; readonly folder: string }
  | { readonly kind: 'rename'; readonly folder: string; readonly entry: FileEntry }

const titles = { file: 'New file', folder: 'New folder', rename: 'Rename or move' } as const

export interface NewNameDialogProps {
  readonly task: NameTask
  readonly onClose: () => void
  readonly onDone: () => void
}

export function NewNameDialog({ task, onClose, onDone }: NewNameDialogProps) {
  const session = useSession()
  const { fs } = useApi().client.browsers
  const id = session.session_id
  const [name, setName] = useState(task.kind === 'rename' ? task.entry.name : '')
  const make = useAct({
    run: async () => {
      const path = name.startsWith('/') ? name : join(task.folder, name)
      if (task.kind === 'rename') return fs.move(id, { src_path: task.entry.path, dest_path: path })
      if (task.kind === 'folder') return fs.createDirectory(id, { path })
      return fs.writeFile(id, '', { path })
    },
    onDone: () => {
      onDone()
      onClose()
    },
    isQuiet: true,
  })
  return (
    <Dialog title={titles[task.kind]} isOpen onClose={onClose}>
      <form
        className="dialog-form"
        onSubmit={(event) => {
          event.preventDefault()
          make.mutate()
        }}
      >
        <Field
          label="Name"
          hint={`In ${task.folder}. A path from / puts it elsewhere. An existing file is replaced.`}
          problem={make.error ? problemOf(make.error).title : undefined}
        >
          {(props) => (
            <input
              {...props}
              value={name}
              required
              autoComplete="off"
              onChange={({ target }) => setName(target.value)}
            />
          )}
        </Field>
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={make.isPending || name === ''}>
            {task.kind === 'rename' ? 'Rename' : 'Create'}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
