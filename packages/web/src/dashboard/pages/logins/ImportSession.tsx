import { useState } from 'react'
import type { ManagedAuth } from '@berth/contracts/auth-connections'
import { importRequestOf, MAX_IMPORT_BYTES } from '@berth/contracts/session-file'
import type { ImportSessionResponse } from '@berth/contracts/session-import'
import { useAsk } from '../../api/context.ts'
import { DropZone } from '../../parts/DropZone.tsx'
import { FormDialog } from '../../parts/Form.tsx'
import { useAct } from '../../parts/use-act.ts'

/** Starts the login from a session of the person's own browser. */
export function ImportSession({ login, onClose }: { login: ManagedAuth; onClose: () => void }) {
  const ask = useAsk()
  const [file, setFile] = useState<File>()
  const send = useAct({
    run: async (signal: AbortSignal) => {
      if (file!.size > MAX_IMPORT_BYTES) throw new Error('The file is too large: at most 4 MB are read')
      return ask<ImportSessionResponse>(`/auth/connections/${encodeURIComponent(login.id)}/import`, {
        method: 'POST',
        body: importRequestOf(await file!.text()),
        signal,
      })
    },
    done: told,
    changes: ['auth_connection'],
    isQuiet: true,
    onDone: onClose,
  })
  return (
    <FormDialog
      title={`Import a session of ${login.domain}`}
      action="Import"
      isReady={file !== undefined}
      onClose={onClose}
      onSend={(signal) => send.mutateAsync(signal)}
    >
      <p>
        Sign in with your own browser and export the session there: with Berth’s extension, as Playwright’s
        storageState, or as cookies. No password is needed. Only what belongs to {login.domain} and its
        further domains is taken.
      </p>
      <DropZone
        label="Drop the file here, or choose one"
        hint="storageState or cookies as JSON, or cookies.txt; up to 4 MB"
        accept=".json,.txt"
        file={file}
        onFile={setFile}
      />
    </FormDialog>
  )
}

function told({ cookies, origins, left_out_count: leftOut }: ImportSessionResponse): string {
  const taken = `${cookies} cookies and the storage of ${origins} origins are taken`
  return leftOut > 0 ? `${taken}, ${leftOut} entries are left out` : taken
}
