// What a login waits for, as a form. Values go to the server and are kept nowhere here.
import { useState } from 'react'
import type { FieldKind, InputMode, ManagedAuth, ManagedAuthEvent } from '@berth/contracts/auth-connections'
import { useAsk } from '../../api/context.ts'
import { Field } from '../../parts/Field.tsx'
import { Form } from '../../parts/Form.tsx'
import { useAct } from '../../parts/use-act.ts'

type Asked = Pick<ManagedAuth | ManagedAuthEvent, 'fields' | 'choices' | 'interaction_id' | 'flow_step'>
type AskedField = NonNullable<Asked['fields']>[number]
type Answer = { field_values: Record<string, string> } | { selected_choice_id: string }

const fieldWords: Readonly<Record<FieldKind, string>> = {
  identifier: 'User name or e-mail address',
  password: 'Password',
  code: 'Code',
  totp_code: 'Code of the authenticator app',
  totp_secret: 'Secret of the authenticator app',
  text: 'Value',
}

export function Question({ path, asked }: { path: string; asked: Asked }) {
  const ask = useAsk()
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const fields = asked.fields ?? []
  const choices = asked.choices ?? []
  const send = useAct({
    run: (answer: Answer) =>
      ask(`${path}/submit`, {
        method: 'POST',
        body: { ...answer, ...(asked.interaction_id != null && { interaction_id: asked.interaction_id }) },
      }),
    onDone: () => setValues({}),
    changes: ['auth_connection'],
  })
  if (asked.flow_step !== 'AWAITING_INPUT' && choices.length === 0 && fields.length === 0) return null
  if (send.isSuccess) return <p role="status">Sent. The login goes on.</p>
  return (
    <>
      {fields.length > 0 && (
        <Form
          action="Continue"
          isReady={!send.isPending && fields.every(({ id, required }) => required === false || values[id])}
          onSend={() => send.mutateAsync({ field_values: values }).catch(() => undefined)}
        >
          {fields.map((field) => (
            <AskedInput
              key={field.id}
              field={field}
              value={values[field.id] ?? ''}
              onChange={(value) => setValues((old) => ({ ...old, [field.id]: value }))}
            />
          ))}
        </Form>
      )}
      {choices.length > 0 && (
        <div className="choices" role="group" aria-label="Choose how to go on">
          {choices.map((choice) => (
            <button
              key={choice.id}
              type="button"
              disabled={send.isPending}
              onClick={() => send.mutate({ selected_choice_id: choice.id })}
            >
              <span>
                {choice.display_text ?? choice.label}
                {(choice.masked_destination ?? choice.description) != null && (
                  <small className="quiet">{choice.masked_destination ?? choice.description}</small>
                )}
              </span>
            </button>
          ))}
        </div>
      )}
    </>
  )
}

interface AskedInputProps {
  readonly field: AskedField
  readonly value: string
  readonly onChange: (value: string) => void
}

function AskedInput({ field, value, onChange }: AskedInputProps) {
  const { type, label, hint, required, reason, input_mode: mode } = field
  const isSecret = type === 'password' || type === 'totp_secret'
  const isCode = type === 'code' || type === 'totp_code'
  return (
    <Field
      label={label ?? fieldWords[type]}
      hint={hint}
      problem={reason === 'rejected' ? 'The website did not accept it' : undefined}
      isOptional={required === false}
    >
      {(attributes) => (
        <input
          {...attributes}
          type={isSecret ? 'password' : 'text'}
          inputMode={(mode ?? (isCode ? 'numeric' : 'text')) satisfies InputMode}
          // It is not the password of this page, so the browser must not offer one.
          autoComplete={isCode ? 'one-time-code' : isSecret ? 'new-password' : 'off'}
          spellCheck={false}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  )
}
