import { useState } from 'react'
import type { WebhookWithSecret } from '@berth/contracts/webhooks'
import { useAsk } from '../../api/context.ts'
import { FormDialog, TextField } from '../../parts/Form.tsx'
import { useAct } from '../../parts/use-act.ts'
import { PATH } from './webhook.ts'

export interface RotateSecretProps {
  readonly id: string
  readonly onClose: () => void
  readonly onRotated: (rotated: WebhookWithSecret) => void
}

export function RotateSecret({ id, onClose, onRotated }: RotateSecretProps) {
  const ask = useAsk()
  const [hours, setHours] = useState('24')
  const rotate = useAct({
    run: (signal: AbortSignal) =>
      ask<WebhookWithSecret>(`${PATH}/${encodeURIComponent(id)}/rotate`, {
        method: 'POST',
        signal,
        body: { overlap_hours: Number(hours) },
      }),
    changes: ['webhook'],
    isQuiet: true,
    onDone: (answer) => {
      onClose()
      onRotated(answer)
    },
  })
  return (
    <FormDialog
      title="Replace the secret?"
      text="For a while, requests are signed with the new and the old one, so that your receiver can change over."
      action="Replace"
      onClose={onClose}
      onSend={(signal) => rotate.mutateAsync(signal)}
    >
      <TextField
        name="overlap_hours"
        label="Hours until the old one ends"
        hint="0: at once. At most 168, which is a week."
        type="number"
        min={0}
        max={168}
        value={hours}
        onChange={setHours}
      />
    </FormDialog>
  )
}
