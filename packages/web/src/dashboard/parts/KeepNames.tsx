// Which of the names that the server has stay. Their values are secret, so nobody sees them here.
import { Check } from './Field.tsx'

export interface KeepNamesProps {
  readonly label: string
  readonly names: readonly string[]
  readonly removed: ReadonlySet<string>
  readonly onChange: (removed: ReadonlySet<string>) => void
}

export function KeepNames({ label, names, removed, onChange }: KeepNamesProps) {
  if (names.length === 0) return null
  const set = (name: string, isKept: boolean) => {
    const next = new Set(removed)
    if (isKept) next.delete(name)
    else next.add(name)
    onChange(next)
  }
  return (
    <fieldset>
      <legend>{label}</legend>
      {names.map((name) => (
        <Check
          key={name}
          label={name}
          isChecked={!removed.has(name)}
          onChange={(isKept) => set(name, isKept)}
        />
      ))}
    </fieldset>
  )
}
