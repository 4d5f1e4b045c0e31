// A field of the form whose text is in the draft under one name, and in the request under another.
import { TextField, type TextFieldProps } from '../../../parts/Form.tsx'

export interface DraftFieldProps<Draft> extends Omit<TextFieldProps, 'name' | 'value' | 'onChange'> {
  readonly draft: Draft
  readonly set: (change: Partial<Draft>) => void
  readonly of: { [Name in keyof Draft]: Draft[Name] extends string ? Name : never }[keyof Draft]
  /** The path of the field in the request. */
  readonly at: string
}

export function DraftField<Draft>({
  draft,
  set,
  of,
  at,
  isOptional = true,
  ...field
}: DraftFieldProps<Draft>) {
  return (
    <TextField
      {...field}
      name={at}
      isOptional={isOptional}
      // SAFETY: the types let in only names of texts.
      value={draft[of] as string}
      onChange={(text) => set({ [of]: text } as Partial<Draft>)}
    />
  )
}
