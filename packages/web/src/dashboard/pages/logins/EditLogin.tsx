import { useState } from 'react'
import type { ManagedAuth } from '@berth/contracts/auth-connections'
import { useAsk } from '../../api/context.ts'
import { FormDialog } from '../../parts/Form.tsx'
import { useAct } from '../../parts/use-act.ts'
import { requestOf, settingsOf } from './settings.ts'
import { SettingsFields } from './SettingsFields.tsx'

export function EditLogin({ login, onClose }: { login: ManagedAuth; onClose: () => void }) {
  const ask = useAsk()
  // As it was when the form was opened: changes of others in the meantime stay.
  const [before] = useState(() => settingsOf(login))
  const [settings, setSettings] = useState(before)
  const save = useAct({
    run: (signal: AbortSignal) =>
      ask(`/auth/connections/${encodeURIComponent(login.id)}`, {
        method: 'PATCH',
        body: requestOf(settings, before),
        signal,
      }),
    done: 'The login is changed',
    changes: ['auth_connection'],
    isQuiet: true,
  })
  return (
    <FormDialog
      title={`Change the login at ${login.domain}`}
      action="Save"
      onClose={onClose}
      onSend={async (signal) => {
        await save.mutateAsync(signal)
        onClose()
      }}
    >
      <SettingsFields settings={settings} onChange={setSettings} />
    </FormDialog>
  )
}
