import { useSyncExternalStore } from 'react'
import { Icon } from './Icon.tsx'
import { dismiss, onToasts, toasts } from './toasts.ts'

export function ToastList() {
  const shown = useSyncExternalStore(onToasts, toasts)
  return (
    <div className="toasts" role="log" aria-live="polite" aria-label="Messages">
      {shown.map(({ id, text, kind, requestId, undo }) => (
        <div key={id} data-kind={kind}>
          <span>
            {text}
            {requestId !== undefined && <small> Request {requestId}</small>}
          </span>
          {undo && (
            <button
              type="button"
              className="plain"
              onClick={() => {
                undo()
                dismiss(id)
              }}
            >
              Undo
            </button>
          )}
          <button type="button" className="plain" aria-label="Dismiss" onClick={() => dismiss(id)}>
            <Icon name="close" size={14} />
          </button>
        </div>
      ))}
    </div>
  )
}
