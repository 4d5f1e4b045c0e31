import { useId, useState, type ReactNode } from 'react'
import { bytes } from './Time.tsx'
import { Icon } from './Icon.tsx'

export interface DropZoneProps {
  readonly label: string
  readonly hint: ReactNode
  /** Endings of file names for the browser's chooser, such as ".zip". */
  readonly accept: string
  readonly file: File | undefined
  readonly onFile: (file: File) => void
}

/** Takes a file that is dropped or chosen. */
export function DropZone({ label, hint, accept, file, onFile }: DropZoneProps) {
  const id = useId()
  const [isOver, setOver] = useState(false)
  const take = (files: FileList | null) => {
    const [first] = files ?? []
    if (first) onFile(first)
  }
  return (
    <label
      className="drop-zone"
      htmlFor={id}
      data-over={isOver}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        take(event.dataTransfer.files)
      }}
    >
      <Icon name={file ? 'file' : 'upload'} size={26} />
      <span className="strong">{file ? file.name : label}</span>
      <span className="hint">{file ? bytes(file.size) : hint}</span>
      <input
        id={id}
        className="unseen"
        type="file"
        accept={accept}
        onChange={({ target }) => take(target.files)}
      />
    </label>
  )
}

/** How far an upload is: 0 to 1, then the server works on it. */
export function UploadProgress({ part, working }: { part: number | undefined; working: string }) {
  if (part === undefined) return null
  const isSent = part >= 1
  return (
    <p className="upload-progress" role="status">
      <progress {...(!isSent && { value: part })} aria-label="Upload" />
      {isSent ? working : `${Math.floor(part * 100)} %`}
    </p>
  )
}
