import { Check } from '../../parts/Field.tsx'
import { DisplayChecks } from '../sessions/create/BasicOptions.tsx'
import { DraftField } from '../sessions/create/DraftField.tsx'
import type { PoolDraft } from './pool-draft.ts'

export interface PoolBasicsProps {
  readonly draft: PoolDraft
  readonly set: (change: Partial<PoolDraft>) => void
  readonly isNew: boolean
}

export function PoolBasics({ draft, set, isNew }: PoolBasicsProps) {
  const form = { draft, set }
  return (
    <>
      <div className="form-grid">
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
          of="size"
          at="size"
          label="Size"
          hint="Browsers, available and leased"
          isOptional={false}
          isNumber
        />
        <DraftField
          {...form}
          of="fillRate"
          at="fill_rate_per_minute"
          label="Fill rate"
          hint="Percent of the size each minute; 25 when empty, 0 stops filling"
          placeholder="25"
          isNumber
        />
        <DraftField
          {...form}
          of="timeoutSeconds"
          at="timeout_seconds"
          label="A lease ends after"
          hint="Seconds without use; 600 when empty"
          placeholder="600"
          isNumber
        />
        <DraftField
          {...form}
          of="startUrl"
          at="start_url"
          label="Address to open"
          placeholder="https://example.com"
        />
        {isNew && (
          <DraftField {...form} of="region" at="region" label="Region" hint="As the operator named it" />
        )}
      </div>
      <div className="form-grid">
        <DisplayChecks {...form} />
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
