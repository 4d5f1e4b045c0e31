import { useState } from 'react'
import { useQueryClient } from '@tanstack/react-query'
import { upload } from '../../api/upload.ts'
import { say } from '../../parts/toasts.ts'

/** Sends an archive, and says how far it is. */
export function useSendExtension(projectId: string | undefined) {
  const queries = useQueryClient()
  const [part, setPart] = useState<number>()
  const send = async (file: File, name: string, signal: AbortSignal) => {
    const body = new FormData()
    body.set('file', file)
    if (name.trim() !== '') body.set('name', name.trim())
    setPart(0)
    try {
      await upload('/extensions', { method: 'POST', body, projectId, signal, onProgress: setPart })
      say('The extension is uploaded')
      void queries.invalidateQueries({ queryKey: ['extension'] })
    } finally {
      setPart(undefined)
    }
  }
  return { part, send }
}
