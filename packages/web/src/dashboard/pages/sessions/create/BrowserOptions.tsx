import { Check } from '../../../parts/Field.tsx'
import { SelectField, useProblemAt } from '../../../parts/Form.tsx'
import type { FormProps } from './draft.ts'
import { DraftField } from './DraftField.tsx'
import { Fold } from './Fold.tsx'

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
  const { draft, set, isPool = false } = props
  const [sizeProblem, gpuProblem] = [useProblemAt('viewport'), useProblemAt('gpu')]
  return (
    <Fold
      title="Screen"
      about={isPool ? 'size, full screen' : 'size, full screen, GPU'}
      fields={['viewport', 'gpu', 'kiosk_mode']}
    >
      <div className="form-grid">
        <DraftField {...props} of="width" at="viewport.width" label="Width" placeholder="1920" isNumber />
        <DraftField {...props} of="height" at="viewport.height" label="Height" placeholder="1080" isNumber />
        <DraftField
          {...props}
          of="refreshRate"
          at="viewport.refresh_rate"
          label="Frames per second"
          hint="Of live view and recordings"
          isNumber
        />
      </div>
      {sizeProblem !== undefined && <p className="hint bad">{sizeProblem}</p>}
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
            hint={gpuProblem ?? (draft.headless ? 'Headful sessions only' : 'Use a GPU')}
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
  const { draft, set } = props
  return (
    <Fold
      title="Language and place"
      about="locale, time zone, region, memory, standby"
      fields={['locale', 'timezone', 'region', 'memory', 'standby_after_seconds']}
    >
      <div className="form-grid">
        <DraftField {...props} of="locale" at="locale" label="Locale" placeholder="en-US" list="locales" />
        <DraftField
          {...props}
          of="timezone"
          at="timezone"
          label="Time zone"
          placeholder="UTC"
          list="timezones"
        />
        <DraftField {...props} of="region" at="region" label="Region" hint="As the operator named it" />
        <SelectField
          name="memory"
          label="Memory"
          isOptional
          hint="Headful without GPU only"
          value={draft.memory}
          onChange={(memory) => set({ memory })}
          options={[
            { value: '', text: 'As the operator has set' },
            { value: '8GiB', text: '8 GiB' },
            { value: '16GiB', text: '16 GiB' },
          ]}
        />
        <DraftField
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
