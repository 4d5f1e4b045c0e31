// Uploads that run, with their progress. Leaving the tab cancels them.
import { useEffect, useRef, useState } from 'react'
import { useApi } from '../../../api/context.ts'
import { Icon } from '../../../parts/Icon.tsx'
import { say, sayProblem } from '../../../parts/toasts.ts'
import { pathOf, useSession } from '../session.ts'
import { join, upload } from './file-calls.ts'

interface Running {
  readonly key: number
  readonly name: string
  readonly share: number
  readonly stop: AbortController
}

export interface Uploads {
  readonly running: readonly Running[]
  add(folder: string, files: readonly File[]): void
}

let lastKey = 0

export function useUploads(onDone: () => void): Uploads {
  const session = useSession()
  const { projectId } = useApi()
  const [running, setRunning] = useState<readonly Running[]>([])
  const all = useRef(new Set<AbortController>())
  useEffect(() => {
    const stops = all.current
    return () => {
      for (const stop of stops) stop.abort()
    }
  }, [])
  const send = async (folder: string, file: File) => {
    const key = ++lastKey
    const stop = new AbortController()
    all.current.add(stop)
    setRunning((old) => [...old, { key, name: file.name, share: 0, stop }])
    const path = encodeURIComponent(join(folder, file.name))
    try {
      await upload({
        url: pathOf(session, `/fs/write_file?path=${path}`),
        file,
        projectId,
        signal: stop.signal,
        onProgress: (share) =>
          setRunning((old) => old.map((each) => (each.key === key ? { ...each, share } : each))),
      })
      say(`${file.name} is uploaded`)
      onDone()
    } catch (error) {
      if (!stop.signal.aborted) sayProblem(error)
    } finally {
      all.current.delete(stop)
      setRunning((old) => old.filter((each) => each.key !== key))
    }
  }
  return {
    running,
    add: (folder, files) => {
      // One after another, so that many small files are no flood.
      void files.reduce((before, file) => before.then(() => send(folder, file)), Promise.resolve())
    },
  }
}

export function UploadList({ uploads: { running } }: { uploads: Uploads }) {
  if (running.length === 0) return null
  return (
    <ul className="uploads" aria-label="Uploads">
      {running.map(({ key, name, share, stop }) => (
        <li key={key}>
          <span className="file-name">{name}</span>
          <progress max={1} value={share} aria-label={`Upload of ${name}`} />
          <span className="quiet number">{Math.round(share * 100)} %</span>
          <button type="button" className="plain" aria-label={`Cancel ${name}`} onClick={() => stop.abort()}>
            <Icon name="close" size={14} />
          </button>
        </li>
      ))}
    </ul>
  )
}
