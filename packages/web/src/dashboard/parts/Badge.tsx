import type { ReactNode } from 'react'

export type Tone = 'good' | 'warn' | 'bad' | 'quiet' | 'accent'

/** A state in a word, with a dot in its colour. */
export function Badge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className="badge" data-tone={tone}>
      {children}
    </span>
  )
}

export interface TagsProps {
  readonly tags: Readonly<Record<string, string>> | undefined
  /** In a narrow place, only so many are shown; the others are counted. */
  readonly max?: number
  /** Somebody clicked on a tag. */
  readonly onPick?: (name: string, value: string) => void
}

export function Tags({ tags, max = Infinity, onPick }: TagsProps) {
  const entries = Object.entries(tags ?? {})
  if (entries.length === 0) return null
  const more = entries.slice(max)
  return (
    <span className="tags">
      {entries.slice(0, max).map(([name, value]) => {
        const text = (
          <>
            {name}
            {value !== '' && <b>{value}</b>}
          </>
        )
        const title = `${name}=${value}`
        return onPick ? (
          <button
            type="button"
            key={name}
            className="tag"
            title={`Only ${title}`}
            onClick={() => onPick(name, value)}
          >
            {text}
          </button>
        ) : (
          <span key={name} className="tag" title={title}>
            {text}
          </span>
        )
      })}
      {more.length > 0 && (
        <span className="tag more" title={more.map(([name, value]) => `${name}=${value}`).join('\n')}>
          +{more.length}
        </span>
      )}
    </span>
  )
}
