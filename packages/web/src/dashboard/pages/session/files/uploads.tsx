// Uploads that run, with their progress. Leaving the tab cancels them.
import { useEffect, useRef, useState } from 'react'
import { useApi } from '../../../api/context.ts'
import { upload } from '../../../api/upload.ts'
import { Icon } from '../../../parts/Icon.tsx'
import { say, sayProblem } from '../../../parts/toasts.ts'
import { pathOf, useSession } from '../session.ts'
import type { Dropped } from './dropped.ts'
import { join } from './file-calls.ts'

/** What was dropped or chosen together. */
interface Running {
  readonly key: number
  readonly name: string
  readonly share: number
  readonly stop: AbortController
}

export interface Uploads {
  readonly running: readonly Running[]
  add(folder: string, files: Promise<readonly Dropped[]> | readonly Dropped[]): void
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
  const send = async (folder: string, given: Promise<readonly Dropped[]> | readonly Dropped[]) => {
    const key = ++lastKey
    const stop = new AbortController()
    all.current.add(stop)
    const show = (part: Partial<Running>) =>
      setRunning((old) => old.map((each) => (each.key === key ? { ...each, ...part } : each)))
    setRunning((old) => [...old, { key, name: 'Reading what to upload', share: 0, stop }])
    try {
      const files = await given
      // One after another, so that many small files are no flood.
      for (const [index, { file, path }] of files.entries()) {
        stop.signal.throwIfAborted()
        const place = files.length === 1 ? path : `${path} (${index + 1} of ${files.length})`
        show({ name: place, share: index / files.length })
        await upload(pathOf(session, `/fs/write_file?path=${encodeURIComponent(join(folder, path))}`), {
          method: 'PUT',
          body: file,
          projectId,
          signal: stop.signal,
          onProgress: (share) => show({ share: (index + share) / files.length }),
        })
      }
      const [first] = files
      if (first) {
        say(files.length === 1 ? `${first.file.name} is uploaded` : `${files.length} files are uploaded`)
      }
    } catch (error) {
      if (!stop.signal.aborted) sayProblem(error)
    } finally {
      all.current.delete(stop)
      setRunning((old) => old.filter((each) => each.key !== key))
      onDone()
    }
  }
  return { running, add: (folder, files) => void send(folder, files) }
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
