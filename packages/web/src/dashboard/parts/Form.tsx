// A form in a dialog. It is sent once at a time, stays open with the reason when the server refuses, and shows the reason
// at the field that the server names.
import {
  createContext,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
  type FormEvent,
  type HTMLInputTypeAttribute,
  type ReactNode,
} from 'react'
import { fieldProblems, problemAt, type FieldProblems } from '../api/field-problems.ts'
import { Dialog, type DialogProps } from './Dialog.tsx'
import { Field } from './Field.tsx'
import { ErrorNote } from './Notes.tsx'

/** Why the form cannot be sent, or was refused, by the name of the field in the request. */
export const ProblemsContext = createContext<FieldProblems>({})

export const useProblemAt = (name: string) => problemAt(useContext(ProblemsContext), name)

export interface FormDialogProps extends Omit<DialogProps, 'isOpen' | 'children'> {
  /** The word on the button. */
  readonly action: string
  readonly isReady?: boolean
  readonly onSend: (signal: AbortSignal) => Promise<unknown>
  readonly children: ReactNode
}

export function FormDialog({
  action,
  isReady = true,
  onSend,
  onClose,
  children,
  ...dialog
}: FormDialogProps) {
  return (
    <Dialog {...dialog} isOpen onClose={onClose}>
      <Form action={action} isReady={isReady} onSend={onSend} onCancel={onClose}>
        {children}
      </Form>
    </Dialog>
  )
}

export interface FormProps {
  readonly action: string
  readonly isReady?: boolean
  readonly onSend: (signal: AbortSignal) => Promise<unknown>
  readonly onCancel?: () => void
  readonly children: ReactNode
}

export function Form({ action, isReady = true, onSend, onCancel, children }: FormProps) {
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const problems = useMemo(() => fieldProblems(error), [error])
  const over = useRef<AbortController>(undefined)
  useEffect(() => () => over.current?.abort(), [])
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    // A form in a dialog of another form: only the inner one is sent.
    event.stopPropagation()
    if (isBusy || !isReady) return
    const { signal } = (over.current = new AbortController())
    setBusy(true)
    setError(undefined)
    try {
      await onSend(signal)
    } catch (thrown) {
      if (!signal.aborted) setError(thrown)
    } finally {
      setBusy(false)
    }
  }
  return (
    <form className="form" onSubmit={(event) => void submit(event)}>
      <ProblemsContext value={problems}>{children}</ProblemsContext>
      {error !== undefined && <ErrorNote error={error} />}
      <footer className="actions end">
        {onCancel && (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
        <button type="submit" className="primary" disabled={isBusy || !isReady}>
          {isBusy ? 'Working…' : action}
        </button>
      </footer>
    </form>
  )
}

interface InputProps {
  /** The field of the request, for the server's refusal. */
  readonly name: string
  readonly label: string
  readonly hint?: ReactNode
  readonly isOptional?: boolean
  readonly value: string
  readonly onChange: (value: string) => void
}

export interface TextFieldProps extends InputProps {
  readonly type?: HTMLInputTypeAttribute
  readonly placeholder?: string
  readonly autoFocus?: boolean
  /** More than one: a text of several lines. */
  readonly lines?: number
  readonly isCode?: boolean
  /** Only digits: phones show their keys. */
  readonly isNumber?: boolean
  /** Id of a datalist. */
  readonly list?: string
  readonly maxLength?: number
  readonly min?: number
  readonly max?: number
}

export function TextField(props: TextFieldProps) {
  const {
    name,
    label,
    hint,
    isOptional = false,
    value,
    onChange,
    type = 'text',
    lines = 1,
    isCode = false,
    isNumber = false,
    ...rest
  } = props
  const problem = useProblemAt(name)
  const common = {
    name,
    value,
    required: !isOptional,
    autoComplete: type === 'password' ? 'new-password' : 'off',
    spellCheck: false,
    ...(isCode && { className: 'code' }),
    ...(isNumber && { inputMode: 'numeric' as const }),
    ...rest,
  }
  return (
    <Field label={label} hint={hint} problem={problem} isOptional={isOptional}>
      {(attributes) =>
        lines > 1 ? (
          <textarea
            {...attributes}
            {...common}
            rows={lines}
            onChange={({ target }) => onChange(target.value)}
          />
        ) : (
          <input {...attributes} {...common} type={type} onChange={({ target }) => onChange(target.value)} />
        )
      }
    </Field>
  )
}

export interface SelectFieldProps extends InputProps {
  readonly options: readonly { readonly value: string; readonly text: string }[]
}

export function SelectField({
  name,
  label,
  hint,
  isOptional = false,
  value,
  onChange,
  options,
}: SelectFieldProps) {
  const problem = useProblemAt(name)
  return (
    <Field label={label} hint={hint} problem={problem} isOptional={isOptional}>
      {(attributes) => (
        <select {...attributes} name={name} value={value} onChange={({ target }) => onChange(target.value)}>
          {options.map(({ value: each, text }) => (
            <option key={each} value={each}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
