import { problemAt } from '../../api/field-problems.ts'
import { Check, Field } from '../../parts/Field.tsx'
import { TextField } from '../sessions/create/TextField.tsx'
import type { PoolDraft } from './pool-draft.ts'

export interface PoolBasicsProps {
  readonly draft: PoolDraft
  readonly set: (change: Partial<PoolDraft>) => void
  readonly problems: Readonly<Record<string, string>>
  readonly isNew: boolean
}

export function PoolBasics({ draft, set, problems, isNew }: PoolBasicsProps) {
  const form = { draft, set, problems }
  return (
    <>
      <div className="form-grid">
        <TextField {...form} of="name" at="name" label="Name" hint="Letters, digits, dot, dash, underscore" />
        <Field label="Size" hint="Browsers, available and leased" problem={problemAt(problems, 'size')}>
          {(attributes) => (
            <input
              {...attributes}
              name="size"
              inputMode="numeric"
              autoComplete="off"
              required
              value={draft.size}
              onChange={({ target }) => set({ size: target.value })}
            />
          )}
        </Field>
        <Field
          label="Fill rate"
          isOptional
          hint="Percent of the size each minute; 25 when empty, 0 stops filling"
          problem={problemAt(problems, 'fill_rate_per_minute')}
        >
          {(attributes) => (
            <input
              {...attributes}
              name="fill_rate_per_minute"
              inputMode="numeric"
              autoComplete="off"
              placeholder="25"
              value={draft.fillRate}
              onChange={({ target }) => set({ fillRate: target.value })}
            />
          )}
        </Field>
        <TextField
          {...form}
          of="timeoutSeconds"
          at="timeout_seconds"
          label="A lease ends after"
          hint="Seconds without use; 600 when empty"
          placeholder="600"
          isNumber
        />
        <TextField
          {...form}
          of="startUrl"
          at="start_url"
          label="Address to open"
          placeholder="https://example.com"
        />
        {isNew && (
          <TextField {...form} of="region" at="region" label="Region" hint="As the operator named it" />
        )}
      </div>
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
          label="Reset on release"
          hint="Each lease gets an unused browser"
          isChecked={draft.resetOnRelease}
          onChange={(resetOnRelease) => set({ resetOnRelease })}
        />
        {draft.profile.trim() !== '' && (
          <Check
            label="Follow the profile"
            hint="Replace available browsers when the profile is saved"
            isChecked={draft.followsProfile}
            onChange={(followsProfile) => set({ followsProfile })}
          />
        )}
      </div>
    </>
  )
}
