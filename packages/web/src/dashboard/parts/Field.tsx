// One row of a form. The hint and the problem are read out with the field.
import { useId, type ReactNode } from 'react'

export interface FieldProps {
  readonly label: string
  readonly hint?: ReactNode
  /** Why the server refused the value. */
  readonly problem?: string | undefined
  readonly isOptional?: boolean
  readonly children: (props: FieldAttributes) => ReactNode
}

export interface FieldAttributes {
  readonly id: string
  readonly 'aria-describedby'?: string
  readonly 'aria-invalid'?: true
}

export function Field({ label, hint, problem, isOptional = false, children }: FieldProps) {
  const id = useId()
  const about = hint !== undefined || problem !== undefined
  return (
    <div className="field">
      <label htmlFor={id}>
        {label}
        {isOptional && <span className="quiet"> (optional)</span>}
      </label>
      {children({
        id,
        ...(about && { 'aria-describedby': `${id}-about` }),
        ...(problem !== undefined && { 'aria-invalid': true as const }),
      })}
      {about && (
        <p id={`${id}-about`} className={problem === undefined ? 'hint' : 'hint bad'}>
          {problem ?? hint}
        </p>
      )}
    </div>
  )
}

export interface CheckProps {
  readonly label: string
  readonly hint?: string
  readonly isChecked: boolean
  readonly isDisabled?: boolean
  readonly onChange: (isChecked: boolean) => void
}

export function Check({ label, hint, isChecked, isDisabled = false, onChange }: CheckProps) {
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={isChecked}
        disabled={isDisabled}
        onChange={({ target }) => onChange(target.checked)}
      />
      <span>
        {label}
        {hint !== undefined && <small className="hint">{hint}</small>}
      </span>
    </label>
  )
}
