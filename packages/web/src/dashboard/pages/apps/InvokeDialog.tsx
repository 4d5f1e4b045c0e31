import { lazy, Suspense, useState } from 'react'
import type { AppVersion } from '@berth/contracts/apps'
import { DEFAULT_ASYNC_SECONDS, type InvocationResult } from '@berth/contracts/invocations'
import { useAsk } from '../../api/context.ts'
import { FormDialog, TextField } from '../../parts/Form.tsx'
import { Loading } from '../../parts/Notes.tsx'
import { useAct } from '../../parts/use-act.ts'

const JsonEditor = lazy(() => import('../../parts/JsonEditor.tsx'))

export interface InvokeDialogProps {
  readonly app: AppVersion
  readonly action: string
  readonly onClose: () => void
  readonly onInvoked: (id: string) => void
}

export function InvokeDialog({ app, action, onClose, onInvoked }: InvokeDialogProps) {
  const ask = useAsk()
  const [payload, setPayload] = useState('{}')
  const [seconds, setSeconds] = useState(String(DEFAULT_ASYNC_SECONDS))
  const problem = problemOfJson(payload)
  const invoke = useAct({
    run: (signal: AbortSignal) =>
      ask<InvocationResult>('/invocations', {
        method: 'POST',
        signal,
        body: {
          app_name: app.app_name,
          action_name: action,
          version: app.version,
          ...(payload.trim() !== '' && { payload }),
          // The page follows it, so that it goes on when somebody closes the page.
          async: true,
          async_timeout_seconds: Number(seconds),
        },
      }),
    changes: ['invocation'],
    isQuiet: true,
    onDone: ({ id }) => onInvoked(id),
  })
  return (
    <FormDialog
      title={`Invoke ${action}`}
      text={`${app.app_name} ${app.version}`}
      action="Invoke"
      isReady={problem === undefined}
      onClose={onClose}
      onSend={(signal) => invoke.mutateAsync(signal)}
    >
      <div className="field">
        <span className="strong" aria-hidden="true">
          Payload
        </span>
        <Suspense fallback={<Loading what="the editor" />}>
          <JsonEditor label="Payload" text={payload} onChange={setPayload} />
        </Suspense>
        <p className={problem === undefined ? 'hint' : 'hint bad'} role="status">
          {problem ?? 'JSON, or nothing'}
        </p>
      </div>
      <TextField
        name="async_timeout_seconds"
        label="Seconds that it may take"
        type="number"
        min={10}
        max={3600}
        value={seconds}
        onChange={setSeconds}
      />
    </FormDialog>
  )
}

function problemOfJson(text: string): string | undefined {
  if (text.trim() === '') return undefined
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return `Not JSON: ${(error as Error).message}`
  }
}
