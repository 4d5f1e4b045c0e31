import { useApi } from '../../../api/context.ts'
import { RenameDialog } from '../../../parts/RenameDialog.tsx'
import { useAct } from '../../../parts/use-act.ts'
import { useSession } from '../session.ts'

export function NameDialog({ onClose }: { onClose: () => void }) {
  const session = useSession()
  const { client } = useApi()
  const rename = useAct({
    run: (name: string) => client.browsers.update(session.session_id, { name }),
    changes: ['browser'],
    isQuiet: true,
  })
  return (
    <RenameDialog
      what="session"
      name={session.name ?? ''}
      hint="Letters, digits, dot, dash and underscore. Leave it empty for no name."
      isOptional
      onSend={(name) => rename.mutateAsync(name)}
      onClose={onClose}
    />
  )
}
