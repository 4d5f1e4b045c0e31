// Everything that the filters find, as one file. The API gives it in parts, each of which is a whole gzip file, and such
// files one after another are one, too.
import { useRef, useState } from 'react'
import { refusalOf } from '../../api/client.ts'
import { useApi } from '../../api/context.ts'
import { Icon } from '../../parts/Icon.tsx'
import { bytes } from '../../parts/Time.tsx'
import { say, sayProblem } from '../../parts/toasts.ts'
import { queryOf, type Filters } from './range.ts'

/** It is kept in memory until it is whole. */
const MAX_BYTES = 512 * 1024 * 1024

export function Download({ filters }: { filters: Filters }) {
  const { projectId } = useApi()
  const [got, setGot] = useState<number>()
  const over = useRef<AbortController>(undefined)
  const download = async () => {
    const { signal } = (over.current = new AbortController())
    setGot(0)
    try {
      const file = await read(queryOf(filters), { projectId, signal, onProgress: setGot })
      save(file)
    } catch (error) {
      if (!signal.aborted) sayProblem(error)
    } finally {
      setGot(undefined)
    }
  }
  if (got === undefined) {
    return (
      <button type="button" onClick={() => void download()}>
        <Icon name="download" size={16} /> Download
      </button>
    )
  }
  return (
    <span className="actions" role="status">
      <progress aria-label="Download" /> {bytes(got)}
      <button type="button" onClick={() => over.current?.abort()}>
        Cancel
      </button>
    </span>
  )
}

interface ReadOptions {
  readonly projectId: string | undefined
  readonly signal: AbortSignal
  readonly onProgress: (bytes: number) => void
}

async function read(query: URLSearchParams, { projectId, signal, onProgress }: ReadOptions): Promise<Blob> {
  const parts: Blob[] = []
  let size = 0
  for (;;) {
    const answer = await fetch(`/audit-logs/export/chunk?${query.toString()}`, {
      signal,
      headers: projectId === undefined ? {} : { 'x-kernel-project-id': projectId },
    })
    if (!answer.ok) throw await refusalOf(answer)
    const part = await answer.blob()
    parts.push(part)
    size += part.size
    onProgress(size)
    const cursor = answer.headers.get('x-next-cursor') ?? ''
    if (cursor === '') return new Blob(parts, { type: 'application/gzip' })
    if (size > MAX_BYTES) {
      say(`The file ends after ${bytes(size)}. Choose a shorter time for the rest`)
      return new Blob(parts, { type: 'application/gzip' })
    }
    query.set('cursor', cursor)
  }
}

function save(file: Blob): void {
  const href = URL.createObjectURL(file)
  Object.assign(document.createElement('a'), { href, download: 'audit-log.jsonl.gz' }).click()
  setTimeout(() => URL.revokeObjectURL(href), 60_000)
}
