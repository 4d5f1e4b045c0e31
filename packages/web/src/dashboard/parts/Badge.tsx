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
  /** Somebody clicked on a tag. */
  readonly onPick?: (name: string, value: string) => void
}

export function Tags({ tags, onPick }: TagsProps) {
  const entries = Object.entries(tags ?? {})
  if (entries.length === 0) return null
  return (
    <span className="tags">
      {entries.map(([name, value]) => {
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
    </span>
  )
}
