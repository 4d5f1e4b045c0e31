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

export function Tags({ tags }: { tags: Readonly<Record<string, string>> | undefined }) {
  const entries = Object.entries(tags ?? {})
  if (entries.length === 0) return null
  return (
    <span className="tags">
      {entries.map(([name, value]) => (
        <span key={name} className="tag" title={`${name}=${value}`}>
          {name}
          {value !== '' && <b>{value}</b>}
        </span>
      ))}
    </span>
  )
}
