// Creates a webhook, or changes one.
import { useState } from 'react'
import {
  aboutEvent,
  scopeOfEvent,
  webhookEventTypes,
  type WebhookEventType,
} from '@berth/contracts/webhook-event-types'
import type { Webhook, WebhookWithSecret } from '@berth/contracts/webhooks'
import { useAsk, usePower } from '../../api/context.ts'
import { Check } from '../../parts/Field.tsx'
import { FormDialog, TextField } from '../../parts/Form.tsx'
import { useAct } from '../../parts/use-act.ts'
import { PATH } from './webhook.ts'

export interface WebhookFormProps {
  /** Undefined for a new one. */
  readonly webhook?: Webhook
  readonly onClose: () => void
  readonly onCreated?: (created: WebhookWithSecret) => void
}

export function WebhookForm({ webhook, onClose, onCreated }: WebhookFormProps) {
  const ask = useAsk()
  const power = usePower()
  const [url, setUrl] = useState(webhook?.url ?? '')
  const [description, setDescription] = useState(webhook?.description ?? '')
  const [chosen, setChosen] = useState<ReadonlySet<WebhookEventType>>(new Set(webhook?.event_types))
  const mayAll = webhookEventTypes.every((type) => power.can(scopeOfEvent(type)))
  const [isAll, setAll] = useState(webhook ? webhook.event_types.length === 0 : mayAll)
  const send = useAct({
    run: (signal: AbortSignal) =>
      ask<WebhookWithSecret>(webhook ? `${PATH}/${encodeURIComponent(webhook.id)}` : PATH, {
        method: webhook ? 'PATCH' : 'POST',
        signal,
        body: {
          url: url.trim(),
          description: description.trim(),
          event_types: isAll ? [] : webhookEventTypes.filter((type) => chosen.has(type)),
        },
      }),
    ...(webhook && { done: 'The webhook is changed' }),
    changes: ['webhook'],
    isQuiet: true,
    onDone: (answer) => {
      onClose()
      onCreated?.(answer)
    },
  })
  const toggle = (type: WebhookEventType, isChosen: boolean) =>
    setChosen((old) => new Set(isChosen ? [...old, type] : [...old].filter((each) => each !== type)))
  return (
    <FormDialog
      title={webhook ? 'Change the webhook' : 'Create a webhook'}
      action={webhook ? 'Save' : 'Create'}
      isReady={url.trim() !== '' && (isAll || chosen.size > 0)}
      onClose={onClose}
      onSend={(signal) => send.mutateAsync(signal)}
    >
      <TextField
        name="url"
        label="Address"
        hint="Events are sent there by POST, signed by Standard Webhooks."
        placeholder="https://receiver.example.com/berth"
        autoFocus
        value={url}
        onChange={setUrl}
      />
      <TextField
        name="description"
        label="Description"
        isOptional
        value={description}
        onChange={setDescription}
      />
      <Check
        label="Send all events"
        hint="Also those that a later version adds."
        isChecked={isAll}
        isDisabled={!mayAll}
        onChange={setAll}
      />
      {!isAll && (
        <fieldset>
          <legend>Events</legend>
          {webhookEventTypes.map((type) => (
            <Check
              key={type}
              label={type}
              hint={power.can(scopeOfEvent(type)) ? aboutEvent(type) : 'Your key may not read this'}
              isChecked={chosen.has(type)}
              isDisabled={!power.can(scopeOfEvent(type))}
              onChange={(isChosen) => toggle(type, isChosen)}
            />
          ))}
        </fieldset>
      )}
    </FormDialog>
  )
}
