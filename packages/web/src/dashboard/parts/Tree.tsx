// A value of JSON as a tree. Large lists and texts are cut.
import './tree.css'

const MAX_ENTRIES = 200
const MAX_TEXT = 5_000
const OPEN_LEVELS = 2

export function Tree({ value, name, level = 0 }: { value: unknown; name?: string; level?: number }) {
  const label = name === undefined ? null : <span className="tree-name">{name}: </span>
  if (typeof value !== 'object' || value === null) {
    return (
      <div className="tree-leaf">
        {label}
        <span data-type={value === null ? 'null' : typeof value}>{leafOf(value)}</span>
      </div>
    )
  }
  const entries = Object.entries(value)
  const kind = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`
  return (
    <details className="tree" open={level < OPEN_LEVELS}>
      <summary>
        {label}
        <span className="quiet">{kind}</span>
      </summary>
      {entries.slice(0, MAX_ENTRIES).map(([key, each]) => (
        <Tree key={key} name={key} value={each} level={level + 1} />
      ))}
      {entries.length > MAX_ENTRIES && <div className="quiet">and {entries.length - MAX_ENTRIES} more</div>}
    </details>
  )
}

function leafOf(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined'
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
}
