import { useState } from 'react'
import { useApi } from '../../../api/context.ts'
import { problemOf } from '../../../api/problem.ts'
import { Dialog } from '../../../parts/Dialog.tsx'
import { Field } from '../../../parts/Field.tsx'
import { useAct } from '../../../parts/use-act.ts'
import { useSession } from '../session.ts'

export function NameDialog({ onClose }: { onClose: () => void }) {
  const session = useSession()
  const { client } = useApi()
  const [name, setName] = useState(session.name ?? '')
  const rename = useAct({
    run: () => client.browsers.update(session.session_id, { name }),
    done: 'The session has its new name',
    changes: ['browser'],
    onDone: onClose,
    isQuiet: true,
  })
  return (
    <Dialog title="Rename the session" isOpen onClose={onClose}>
      <form
        className="dialog-form"
        onSubmit={(event) => {
          event.preventDefault()
          rename.mutate()
        }}
      >
        <Field
          label="Name"
          hint="Letters, digits, dot, dash and underscore. Leave it empty for no name."
          problem={rename.error ? problemOf(rename.error).title : undefined}
        >
          {(props) => (
            <input
              {...props}
              value={name}
              maxLength={255}
              autoComplete="off"
              onChange={({ target }) => setName(target.value)}
            />
          )}
        </Field>
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={rename.isPending}>
            Rename
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
