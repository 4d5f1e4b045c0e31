import { useEffect, useRef, useState } from 'react'
import { Icon } from './Icon.tsx'

const SHOWN_MS = 1_500

export function CopyButton({ text, label = 'Copy' }: { text: string | (() => string); label?: string }) {
  const [isCopied, setCopied] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const copy = async () => {
    await copyText(typeof text === 'string' ? text : text())
    setCopied(true)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setCopied(false), SHOWN_MS)
  }
  return (
    <button type="button" className="plain" onClick={() => void copy()} title={label} aria-label={label}>
      <Icon name={isCopied ? 'check' : 'copy'} size={16} />
      <span className="unseen" role="status">
        {isCopied ? 'Copied' : ''}
      </span>
    </button>
  )
}

/** Plain HTTP to another machine has no clipboard API. */
export async function copyText(text: string): Promise<void> {
  // It may be missing, whatever its type says.
  const clipboard = navigator.clipboard as Clipboard | undefined
  if (clipboard) return clipboard.writeText(text)
  const field = Object.assign(document.createElement('textarea'), { value: text, className: 'unseen' })
  document.body.append(field)
  field.select()
  document.execCommand('copy')
  field.remove()
}

/** A text in one line that people take with them: an id, a URL. */
export function Copyable({ text, shown = text }: { text: string; shown?: string }) {
  return (
    <span className="copyable">
      <code title={text}>{shown}</code>
      <CopyButton text={text} />
    </span>
  )
}

export function Code({ text, label }: { text: string; label: string }) {
  return (
    <div className="code-block">
      <pre tabIndex={0} aria-label={label}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} label={`Copy: ${label}`} />
    </div>
  )
}
