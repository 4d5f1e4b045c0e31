// A text file in an editor. Before it saves, it looks whether somebody else has changed the file.
import { lazy, Suspense, useRef, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../../api/context.ts'
import { noPlaceholder } from '../../../api/queries.ts'
import { Dialog } from '../../../parts/Dialog.tsx'
import { ErrorNote, Loading, Pending } from '../../../parts/Notes.tsx'
import { say } from '../../../parts/toasts.ts'
import { bytes } from '../../../parts/Time.tsx'
import type { EditorLanguage } from '../../../parts/Editor.tsx'
import { useSession } from '../session.ts'

const Editor = lazy(() => import('../../../parts/Editor.tsx'))

const MAX_BYTES = 2_000_000

export interface FileEditorProps {
  readonly path: string
  readonly onClose: () => void
  readonly onSaved: () => void
}

export function FileEditor({ path, onClose, onSaved }: FileEditorProps) {
  const session = useSession()
  const { fs } = useApi().client.browsers
  const id = session.session_id
  const query = useQuery({
    queryKey: ['session_file', id, path],
    queryFn: async ({ signal }) => {
      const info = await fs.fileInfo(id, { path }, { signal })
      if (info.is_dir) throw new Error('This is a folder')
      if (info.size_bytes > MAX_BYTES) {
        throw new Error(
          `The file has ${bytes(info.size_bytes)}, too much for the editor. Download it instead`,
        )
      }
      const answer = await fs.readFile(id, { path }, { signal })
      return { text: textOf(await answer.arrayBuffer()), time: info.mod_time }
    },
    gcTime: 0,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    retry: false,
    placeholderData: noPlaceholder,
  })
  const edited = useRef<string>(undefined)
  const savedTime = useRef<string>(undefined)
  const [isChanged, setChanged] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [isConflict, setConflict] = useState(false)
  const [error, setError] = useState<unknown>()

  const save = async ({ force = false } = {}) => {
    if (edited.current === undefined || isBusy) return
    setBusy(true)
    setError(undefined)
    setConflict(false)
    try {
      const known = savedTime.current ?? query.data!.time
      const now = await fs.fileInfo(id, { path }).catch(() => undefined)
      if (!force && now?.mod_time !== known) return setConflict(true)
      await fs.writeFile(id, edited.current, { path })
      savedTime.current = (await fs.fileInfo(id, { path })).mod_time
      setChanged(false)
      say('The file is saved')
      onSaved()
    } catch (thrown) {
      setError(thrown)
    } finally {
      setBusy(false)
    }
  }
  const readAgain = async () => {
    edited.current = undefined
    savedTime.current = undefined
    setConflict(false)
    setChanged(false)
    await query.refetch()
  }
  return (
    <Dialog
      title={path}
      isOpen
      onClose={() => (isChanged && !isConflict ? setConflict(true) : onClose())}
      isWide
    >
      {query.data ? (
        <>
          {isConflict && (
            <div className="note problem" role="alert">
              <div>
                <p className="strong">Your changes are not saved</p>
                <p>The file may have changed meanwhile. Save yours over it, read it again, or leave yours.</p>
              </div>
              <button type="button" onClick={() => void save({ force: true })}>
                Save mine
              </button>
              <button type="button" onClick={() => void readAgain()}>
                Read again
              </button>
              <button type="button" className="danger" onClick={onClose}>
                Close without saving
              </button>
            </div>
          )}
          {error !== undefined && <ErrorNote error={error} />}
          <div className="file-editor">
            <Suspense fallback={<Loading what="the editor" />}>
              <Editor
                label={`Text of ${path}`}
                text={query.data.text}
                language={languageOf(path)}
                onChange={(text) => {
                  edited.current = text
                  setChanged(true)
                }}
                onSave={() => void save()}
              />
            </Suspense>
          </div>
          <footer>
            <span className="quiet">{isChanged ? 'Changed' : 'Saved'}</span>
            <button
              type="button"
              className="primary"
              disabled={!isChanged || isBusy}
              onClick={() => void save()}
            >
              Save
            </button>
          </footer>
        </>
      ) : (
        <Pending query={query} what="the file" />
      )}
    </Dialog>
  )
}

/** Throws for what is not text, because saving it would destroy it. */
function textOf(content: ArrayBuffer): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content)
    if (!text.includes('\0')) return text
  } catch {
    // As below.
  }
  throw new Error('The file is not text. Download it instead')
}

function languageOf(path: string): EditorLanguage {
  if (path.endsWith('.json')) return 'json'
  return /\.[cm]?[jt]sx?$/.test(path) ? 'typescript' : 'text'
}
