import { useState, type ReactNode } from 'react'
import { AlertDialog as Alert, Dialog as Modal } from 'radix-ui'
import { problemOf } from '../api/problem.ts'
import { ErrorNote } from './Notes.tsx'
import { Icon } from './Icon.tsx'

export interface DialogProps {
  readonly title: string
  readonly text?: string
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly isWide?: boolean
  readonly children: ReactNode
}

export function Dialog({ title, text, isOpen, onClose, isWide = false, children }: DialogProps) {
  return (
    <Modal.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Modal.Portal>
        <Modal.Overlay className="veil" />
        <Modal.Content
          className={isWide ? 'dialog wide' : 'dialog'}
          tabIndex={-1}
          onOpenAutoFocus={focusFirst}
          {...(text === undefined && { 'aria-describedby': undefined })}
        >
          <header>
            <Modal.Title>{title}</Modal.Title>
            <Modal.Close className="plain" aria-label="Close">
              <Icon name="close" />
            </Modal.Close>
          </header>
          {text !== undefined && <Modal.Description className="quiet">{text}</Modal.Description>}
          {children}
        </Modal.Content>
      </Modal.Portal>
    </Modal.Root>
  )
}

/** The first field, or else the dialog itself: nobody opens it to close it. */
function focusFirst(event: Event): void {
  const dialog = event.currentTarget as HTMLElement
  const field = dialog.querySelector<HTMLElement>(
    'form :is(input:not(.unseen), select, textarea):not(:disabled)',
  )
  event.preventDefault()
  ;(field ?? dialog).focus()
}

export interface ConfirmProps {
  readonly title: string
  /** What will be gone. */
  readonly text: ReactNode
  /** The word on the button, such as "Delete". */
  readonly action: string
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onConfirm: () => Promise<unknown>
}

/** Asks before something is destroyed. Stays open, with the reason, when that failed. */
export function Confirm({ title, text, action, isOpen, onClose, onConfirm }: ConfirmProps) {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const close = () => {
    setError(undefined)
    onClose()
  }
  const confirm = async () => {
    setBusy(true)
    setError(undefined)
    try {
      await onConfirm()
      close()
    } catch (thrown) {
      setError(thrown)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Alert.Root open={isOpen} onOpenChange={(open) => !open && close()}>
      <Alert.Portal>
        <Alert.Overlay className="veil" />
        <Alert.Content className="dialog">
          <Alert.Title>{title}</Alert.Title>
          <Alert.Description asChild>
            <div>{text}</div>
          </Alert.Description>
          {error !== undefined && <ErrorNote error={error} />}
          <footer>
            <Alert.Cancel>Keep</Alert.Cancel>
            <button type="button" className="danger" disabled={isBusy} onClick={() => void confirm()}>
              {isBusy ? 'Working…' : action}
            </button>
          </footer>
        </Alert.Content>
      </Alert.Portal>
    </Alert.Root>
  )
}

export const reasonOf = (error: unknown) => problemOf(error).title
