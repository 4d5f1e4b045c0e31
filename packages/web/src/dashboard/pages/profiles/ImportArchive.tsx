import { useState } from 'react'
import type { Profile, ProfileVersion } from '@berth/contracts/profiles'
import { useQueryClient } from '@tanstack/react-query'
import { useApi } from '../../api/context.ts'
import { upload } from '../../api/upload.ts'
import { DropZone, UploadProgress } from '../../parts/DropZone.tsx'
import { FormDialog } from '../../parts/Form.tsx'
import { say } from '../../parts/toasts.ts'
import { pathOf } from './profile.ts'

export function ImportArchive({ profile, onClose }: { profile: Profile; onClose: () => void }) {
  const { projectId } = useApi()
  const queries = useQueryClient()
  const [file, setFile] = useState<File>()
  const [part, setPart] = useState<number>()
  return (
    <FormDialog
      title="Import an archive"
      text="It becomes a new version that sessions start from. The versions before it stay."
      action="Import"
      isReady={file !== undefined}
      onClose={onClose}
      onSend={async (signal) => {
        setPart(0)
        try {
          const { version } = await upload<ProfileVersion>(`${pathOf(profile)}/archive`, {
            method: 'PUT',
            body: file!,
            projectId,
            signal,
            onProgress: setPart,
          })
          say(`The archive is version ${version}`)
          void queries.invalidateQueries({ queryKey: ['profile'] })
          onClose()
        } finally {
          setPart(undefined)
        }
      }}
    >
      <DropZone
        label="Drop an archive here, or choose one"
        hint="A tar file with Default/ at its top, also as .tar.zst or .tar.gz: a downloaded profile, or a user-data directory of Chromium"
        accept=".tar,.zst,.gz,.tgz"
        file={file}
        onFile={setFile}
      />
      <UploadProgress part={part} working="The server reads the archive" />
    </FormDialog>
  )
}
