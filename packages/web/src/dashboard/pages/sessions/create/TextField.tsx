import type { ReactNode } from 'react'
import { problemAt } from '../../../api/field-problems.ts'
import { Field } from '../../../parts/Field.tsx'
import type { Draft, FormProps } from './draft.ts'

type TextName = { [Name in keyof Draft]: Draft[Name] extends string ? Name : never }[keyof Draft]

export interface TextFieldProps extends FormProps {
  readonly of: TextName
  /** The path of the field in the request. */
  readonly at: string
  readonly label: string
  readonly hint?: ReactNode
  readonly placeholder?: string
  readonly isNumber?: boolean
  /** Id of a datalist. */
  readonly list?: string
}

export function TextField(props: TextFieldProps) {
  const { of, at, label, hint, placeholder, isNumber = false, list, draft, set, problems } = props
  return (
    <Field label={label} isOptional hint={hint} problem={problemAt(problems, at)}>
      {(attributes) => (
        <input
          {...attributes}
          name={at}
          autoComplete="off"
          spellCheck={false}
          {...(isNumber && { inputMode: 'numeric' as const })}
          {...(list !== undefined && { list })}
          {...(placeholder !== undefined && { placeholder })}
          value={draft[of]}
          onChange={({ target }) => set({ [of]: target.value })}
        />
      )}
    </Field>
  )
}
