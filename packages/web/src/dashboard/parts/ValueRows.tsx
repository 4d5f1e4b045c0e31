// Names and secret values, one row each.
import { Icon } from './Icon.tsx'
import { useProblemAt } from './Form.tsx'

export interface ValueRow {
  readonly id: number
  readonly name: string
  readonly value: string
}

let lastId = 0
export const newRow = (name = ''): ValueRow => ({ id: ++lastId, name, value: '' })

/** Rows without a name count as absent. */
export const valuesOf = (rows: readonly ValueRow[]): Record<string, string> =>
  Object.fromEntries(rows.flatMap(({ name, value }) => (name.trim() === '' ? [] : [[name.trim(), value]])))

export interface ValueRowsProps {
  readonly label: string
  readonly rows: readonly ValueRow[]
  readonly onChange: (rows: readonly ValueRow[]) => void
  /** Name of the field in the request. */
  readonly name?: string
  readonly areSecret?: boolean
}

export function ValueRows({ label, rows, onChange, name = 'values', areSecret = true }: ValueRowsProps) {
  const problem = useProblemAt(name)
  const set = (id: number, changes: Partial<ValueRow>) =>
    onChange(rows.map((row) => (row.id === id ? { ...row, ...changes } : row)))
  return (
    <fieldset>
      <legend>{label}</legend>
      {rows.map((row, index) => (
        <div className="pair" key={row.id}>
          <input
            aria-label={`Name ${index + 1}`}
            placeholder="Name"
            autoComplete="off"
            spellCheck={false}
            value={row.name}
            onChange={({ target }) => set(row.id, { name: target.value })}
          />
          <input
            aria-label={`Value of ${row.name || `row ${index + 1}`}`}
            placeholder="Value"
            type={areSecret ? 'password' : 'text'}
            autoComplete={areSecret ? 'new-password' : 'off'}
            spellCheck={false}
            value={row.value}
            onChange={({ target }) => set(row.id, { value: target.value })}
          />
          <button
            type="button"
            className="plain"
            aria-label={`Remove ${row.name || `row ${index + 1}`}`}
            onClick={() => onChange(rows.filter(({ id }) => id !== row.id))}
          >
            <Icon name="close" size={16} />
          </button>
        </div>
      ))}
      {problem !== undefined && <p className="hint bad">{problem}</p>}
      <div>
        <button type="button" onClick={() => onChange([...rows, newRow()])}>
          <Icon name="plus" size={16} /> Add
        </button>
      </div>
    </fieldset>
  )
}
