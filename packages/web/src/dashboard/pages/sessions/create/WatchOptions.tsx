import { categories } from '@berth/contracts/telemetry-events'
import { problemAt } from '../../../api/field-problems.ts'
import { Check, Field } from '../../../parts/Field.tsx'
import type { Draft, FormProps } from './draft.ts'
import { Fold } from './Fold.tsx'
import { JsonField } from './JsonField.tsx'
import { TextField } from './TextField.tsx'

export function WatchOptions(props: FormProps) {
  const { draft, set, problems, isPool = false } = props
  const hasProblem = ['record', 'telemetry'].some((field) => problemAt(problems, field) !== undefined)
  return (
    <Fold
      title={isPool ? 'Telemetry' : 'Recording and telemetry'}
      about="what is kept of the session"
      hasProblem={hasProblem}
    >
      {draft.record && !isPool && (
        <div className="form-grid">
          <TextField
            {...props}
            of="framerate"
            at="record.framerate"
            label="Video frames per second"
            placeholder="10"
            isNumber
          />
          <TextField
            {...props}
            of="maxDuration"
            at="record.max_duration_in_seconds"
            label="Video ends after"
            hint="Seconds"
            isNumber
          />
        </div>
      )}
      <Field label="Telemetry" problem={problemAt(problems, 'telemetry')}>
        {(attributes) => (
          <select
            {...attributes}
            name="telemetry"
            value={draft.telemetry}
            onChange={({ target }) => set({ telemetry: target.value as Draft['telemetry'] })}
          >
            <option value="default">As usual</option>
            <option value="on">These events</option>
            <option value="off">None</option>
          </select>
        )}
      </Field>
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

export function PolicyOptions({ draft, set, problems }: FormProps) {
  const problem = problemAt(problems, 'chrome_policy')
  return (
    <Fold
      title="Chrome policies"
      about="enterprise policies by name, as JSON"
      hasProblem={problem !== undefined}
    >
      <JsonField
        label="Chrome policies"
        text={draft.chromePolicy}
        onChange={(chromePolicy) => set({ chromePolicy })}
        problem={problem}
      />
    </Fold>
  )
}
