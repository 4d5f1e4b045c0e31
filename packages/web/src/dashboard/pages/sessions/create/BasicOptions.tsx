import { Check } from '../../../parts/Field.tsx'
import type { FormProps } from './draft.ts'
import { DraftField } from './DraftField.tsx'

export function BasicOptions(form: FormProps) {
  const { draft, set } = form
  return (
    <>
      <DraftField
        {...form}
        of="name"
        at="name"
        label="Name"
        hint="Letters, digits, dot, dash, underscore"
        maxLength={255}
        autoFocus
      />
      <DraftField
        {...form}
        of="startUrl"
        at="start_url"
        label="Address to open"
        placeholder="https://example.com"
      />
      <div className="form-grid">
        <DisplayChecks {...form} />
        <Check
          label="Record"
          hint="A video from the first moment"
          isChecked={draft.record}
          onChange={(record) => set({ record })}
        />
      </div>
      <div className="form-grid">
        <DraftField
          {...form}
          of="timeoutSeconds"
          at="timeout_seconds"
          label="Ends after"
          hint="Seconds without use; 60 when empty"
          placeholder="60"
          isNumber
        />
        <DraftField {...form} of="tags" at="tags" label="Tags" hint="One name=value on each line" lines={2} />
      </div>
    </>
  )
}

/** What sessions and pools have alike. */
export function DisplayChecks({ draft, set }: FormProps) {
  return (
    <>
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
    </>
  )
}
