// A text in JSON. The editor is loaded when the field is first shown.
import { lazy, Suspense } from 'react'
import { Field } from '../../../parts/Field.tsx'

const JsonEditor = lazy(() => import('../../../parts/JsonEditor.tsx'))

export interface JsonFieldProps {
  readonly label: string
  readonly text: string
  readonly onChange: (text: string) => void
  readonly problem?: string | undefined
}

export function JsonField({ label, text, onChange, problem }: JsonFieldProps) {
  return (
    <Field label={label} isOptional hint={'For example {"BookmarkBarEnabled": false}'} problem={problem}>
      {({ id, ...attributes }) => (
        <Suspense fallback={<div className="json-editor" id={id} />}>
          <JsonEditor
            id={id}
            label={label}
            aboutId={attributes['aria-describedby']}
            text={text}
            onChange={onChange}
          />
        </Suspense>
      )}
    </Field>
  )
}
