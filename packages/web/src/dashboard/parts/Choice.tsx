/** A few words in a row, of which one is chosen. */
export interface ChoiceProps<Value extends string> {
  readonly label: string
  readonly options: Readonly<Record<Value, string>>
  readonly value: Value
  readonly onChange: (value: Value) => void
}

export function Choice<Value extends string>({ label, options, value, onChange }: ChoiceProps<Value>) {
  return (
    <div className="choice" role="group" aria-label={label}>
      {Object.entries<string>(options).map(([each, text]) => (
        <button
          type="button"
          key={each}
          aria-pressed={each === value}
          // SAFETY: the names of the options are the values.
          onClick={() => onChange(each as Value)}
        >
          {text}
        </button>
      ))}
    </div>
  )
}
