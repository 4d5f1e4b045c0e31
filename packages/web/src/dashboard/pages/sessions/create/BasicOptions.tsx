import { Check, Field } from '../../../parts/Field.tsx'
import { problemAt } from '../../../api/field-problems.ts'
import type { FormProps } from './draft.ts'

export function BasicOptions({ draft, set, problems }: FormProps) {
  return (
    <>
      <Field
        label="Name"
        isOptional
        hint="Letters, digits, dot, dash, underscore"
        problem={problemAt(problems, 'name')}
      >
        {(attributes) => (
          <input
            {...attributes}
            name="name"
            autoComplete="off"
            autoFocus
            maxLength={255}
            value={draft.name}
            onChange={({ target }) => set({ name: target.value })}
          />
        )}
      </Field>
      <Field label="Address to open" isOptional problem={problemAt(problems, 'start_url')}>
        {(attributes) => (
          <input
            {...attributes}
            name="start_url"
            inputMode="url"
            autoComplete="off"
            placeholder="https://example.com"
            value={draft.startUrl}
            onChange={({ target }) => set({ startUrl: target.value })}
          />
        )}
      </Field>
      <div className="form-grid">
        <Check
          label="Headless"
          hint="Without a display; uses less memory"
          isChecked={draft.headless}
          onChange={(headless) => set({ headless })}
        />
        <Check
          label="Stealth"
          hint="Hides signs of automation from pages"
          isChecked={draft.stealth}
          onChange={(stealth) => set({ stealth })}
        />
        <Check
          label="Record"
          hint="A video from the first moment"
          isChecked={draft.record}
          onChange={(record) => set({ record })}
        />
      </div>
      <div className="form-grid">
        <Field
          label="Ends after"
          isOptional
          hint="Seconds without use; 60 when empty"
          problem={problemAt(problems, 'timeout_seconds')}
        >
          {(attributes) => (
            <input
              {...attributes}
              name="timeout_seconds"
              inputMode="numeric"
              autoComplete="off"
              placeholder="60"
              value={draft.timeoutSeconds}
              onChange={({ target }) => set({ timeoutSeconds: target.value })}
            />
          )}
        </Field>
        <Field
          label="Tags"
          isOptional
          hint="One name=value on each line"
          problem={problemAt(problems, 'tags')}
        >
          {(attributes) => (
            <textarea
              {...attributes}
              name="tags"
              rows={2}
              spellCheck={false}
              value={draft.tags}
              onChange={({ target }) => set({ tags: target.value })}
            />
          )}
        </Field>
      </div>
    </>
  )
}
