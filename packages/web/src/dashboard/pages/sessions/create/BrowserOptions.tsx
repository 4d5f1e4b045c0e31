import { problemAt } from '../../../api/field-problems.ts'
import { Check, Field } from '../../../parts/Field.tsx'
import type { FormProps } from './draft.ts'
import { Fold } from './Fold.tsx'
import { TextField } from './TextField.tsx'

const has = (problems: FormProps['problems'], ...fields: string[]) =>
  fields.some((field) => problemAt(problems, field) !== undefined)
const timezones = Intl.supportedValuesOf('timeZone')
const locales = [
  'en-US',
  'en-GB',
  'de-DE',
  'fr-FR',
  'es-ES',
  'it-IT',
  'pt-BR',
  'nl-NL',
  'pl-PL',
  'ja-JP',
  'zh-CN',
]

export function ScreenOptions(props: FormProps) {
  const { draft, set, problems, isPool = false } = props
  return (
    <Fold
      title="Screen"
      about={isPool ? 'size, full screen' : 'size, full screen, GPU'}
      hasProblem={has(problems, 'viewport', 'gpu', 'kiosk_mode')}
    >
      <div className="form-grid">
        <TextField {...props} of="width" at="viewport.width" label="Width" placeholder="1920" isNumber />
        <TextField {...props} of="height" at="viewport.height" label="Height" placeholder="1080" isNumber />
        <TextField
          {...props}
          of="refreshRate"
          at="viewport.refresh_rate"
          label="Frames per second"
          hint="Of live view and recordings"
          isNumber
        />
      </div>
      {problems['viewport'] !== undefined && <p className="hint bad">The size {problems['viewport']}</p>}
      <div className="form-grid">
        <Check
          label="Kiosk mode"
          hint="The page fills the screen, without browser controls"
          isChecked={draft.kioskMode}
          onChange={(kioskMode) => set({ kioskMode })}
        />
        {!isPool && (
          <Check
            label="GPU"
            hint={problemAt(problems, 'gpu') ?? (draft.headless ? 'Headful sessions only' : 'Use a GPU')}
            isChecked={draft.gpu && !draft.headless}
            isDisabled={draft.headless}
            onChange={(gpu) => set({ gpu })}
          />
        )}
      </div>
    </Fold>
  )
}

export function PlaceOptions(props: FormProps) {
  const { draft, set, problems } = props
  return (
    <Fold
      title="Language and place"
      about="locale, time zone, region, memory, standby"
      hasProblem={has(problems, 'locale', 'timezone', 'region', 'memory', 'standby_after_seconds')}
    >
      <div className="form-grid">
        <TextField {...props} of="locale" at="locale" label="Locale" placeholder="en-US" list="locales" />
        <TextField
          {...props}
          of="timezone"
          at="timezone"
          label="Time zone"
          placeholder="UTC"
          list="timezones"
        />
        <TextField {...props} of="region" at="region" label="Region" hint="As the operator named it" />
        <Field
          label="Memory"
          isOptional
          problem={problemAt(problems, 'memory')}
          hint="Headful without GPU only"
        >
          {(attributes) => (
            <select
              {...attributes}
              name="memory"
              value={draft.memory}
              onChange={({ target }) => set({ memory: target.value })}
            >
              <option value="">As the operator has set</option>
              <option value="8GiB">8 GiB</option>
              <option value="16GiB">16 GiB</option>
            </select>
          )}
        </Field>
        <TextField
          {...props}
          of="standbyAfterSeconds"
          at="standby_after_seconds"
          label="Standby after"
          hint="Seconds without use, even while clients are connected"
          isNumber
        />
      </div>
      <datalist id="locales">
        {locales.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <datalist id="timezones">
        {timezones.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </Fold>
  )
}
