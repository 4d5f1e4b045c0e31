import { categories } from '@berth/contracts/telemetry-events'
import { Check } from '../../../parts/Field.tsx'
import { SelectField, useProblemAt } from '../../../parts/Form.tsx'
import type { Draft, FormProps } from './draft.ts'
import { DraftField } from './DraftField.tsx'
import { Fold } from './Fold.tsx'
import { JsonField } from './JsonField.tsx'

export function WatchOptions(props: FormProps) {
  const { draft, set, isPool = false } = props
  return (
    <Fold
      title={isPool ? 'Telemetry' : 'Recording and telemetry'}
      about="what is kept of the session"
      fields={['record', 'telemetry']}
    >
      {draft.record && !isPool && (
        <div className="form-grid">
          <DraftField
            {...props}
            of="framerate"
            at="record.framerate"
            label="Video frames per second"
            placeholder="10"
            isNumber
          />
          <DraftField
            {...props}
            of="maxDuration"
            at="record.max_duration_in_seconds"
            label="Video ends after"
            hint="Seconds"
            isNumber
          />
        </div>
      )}
      <SelectField
        name="telemetry"
        label="Telemetry"
        value={draft.telemetry}
        onChange={(telemetry) => set({ telemetry: telemetry as Draft['telemetry'] })}
        options={[
          { value: 'default', text: 'As usual' },
          { value: 'on', text: 'These events' },
          { value: 'off', text: 'None' },
        ]}
      />
      {draft.telemetry === 'on' && (
        <div className="form-grid tight">
          {categories.map((category) => (
            <Check
              key={category}
              label={category}
              isChecked={draft.categories.includes(category)}
              onChange={(isOn) =>
                set({
                  categories: isOn
                    ? [...draft.categories, category]
                    : draft.categories.filter((each) => each !== category),
                })
              }
            />
          ))}
        </div>
      )}
    </Fold>
  )
}

export function PolicyOptions({ draft, set }: FormProps) {
  const problem = useProblemAt('chrome_policy')
  return (
    <Fold title="Chrome policies" about="enterprise policies by name, as JSON" fields={['chrome_policy']}>
      <JsonField
        label="Chrome policies"
        text={draft.chromePolicy}
        onChange={(chromePolicy) => set({ chromePolicy })}
        problem={problem}
      />
    </Fold>
  )
}
