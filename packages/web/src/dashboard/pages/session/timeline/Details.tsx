// One event with headers and bodies.
import { useEffect, type ReactNode } from 'react'
import type { TelemetryEvent } from '@berth/contracts/telemetry'
import { CopyButton } from '../../../parts/Copy.tsx'
import { Icon } from '../../../parts/Icon.tsx'
import { Pending } from '../../../parts/Notes.tsx'
import { duration } from '../../../parts/Time.tsx'
import { useOneEvent } from './one-event.ts'
import { pictureOf } from './Thumbnail.tsx'

export interface DetailsProps {
  readonly seq: number
  /** The answer to a request. */
  readonly endSeq: number | undefined
  readonly startMs: number
  readonly onClose: () => void
}

export function Details({ seq, endSeq, startMs, onClose }: DetailsProps) {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !event.defaultPrevented) onClose()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  })
  const query = useOneEvent(seq)
  const answer = useOneEvent(endSeq)
  return (
    <section className="event-details" aria-label="Details of the event" tabIndex={0}>
      <header>
        <h2>{query.data?.event.type.replaceAll('_', ' ') ?? 'Event'}</h2>
        <button type="button" className="plain" aria-label="Close the details" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {query.data ? (
        <OneEvent event={query.data} startMs={startMs} />
      ) : (
        <Pending query={query} what="the event" />
      )}
      {answer.data && (
        <>
          <h2>{answer.data.event.type.replaceAll('_', ' ')}</h2>
          <OneEvent event={answer.data} startMs={startMs} />
        </>
      )}
    </section>
  )
}

const textFields = ['body', 'post_data', 'text'] as const
const hidden: ReadonlySet<string> = new Set([...textFields, 'headers', 'png', 'stack_trace', 'args'])

function OneEvent({ event: { seq, event }, startMs }: { event: TelemetryEvent; startMs: number }) {
  const data = event.data ?? {}
  const picture = pictureOf(data['png'])
  const atMs = event.ts / 1000
  return (
    <>
      <Rows
        rows={[
          ['Time', `${new Date(atMs).toLocaleString()}, after ${duration(Math.max(0, atMs - startMs))}`],
          ['Number', String(seq)],
          ...Object.entries(data)
            .filter(([name]) => !hidden.has(name))
            .map(([name, value]): [string, string] => [name.replaceAll('_', ' '), asText(value)]),
          ...Object.entries(event.source.metadata ?? {}).map(([name, value]): [string, string] => [
            name.replaceAll('_', ' '),
            value,
          ]),
        ]}
      />
      {picture !== undefined && <img className="event-picture" src={picture} alt="The page at that moment" />}
      {textFields.map((name) => {
        const value = data[name]
        return typeof value === 'string' && value !== '' ? (
          <Part
            key={name}
            title={name === 'post_data' ? 'Request body' : name === 'body' ? 'Body' : 'Text'}
            text={readable(value)}
          />
        ) : null
      })}
      {event.truncated === true && (
        <p className="quiet">Parts of this event were cut, because they were too large.</p>
      )}
      {isTable(data['headers']) && (
        <>
          <h3>Headers</h3>
          <Rows rows={Object.entries(data['headers']).map(([name, value]) => [name, asText(value)])} />
        </>
      )}
      {Array.isArray(data['args']) && data['args'].length > 1 && (
        <Part title="Arguments" text={data['args'].map(asText).join('\n')} />
      )}
      {data['stack_trace'] !== undefined && <Part title="Stack" text={stackOf(data['stack_trace'])} />}
    </>
  )
}

function Rows({ rows }: { rows: readonly (readonly [string, string])[] }): ReactNode {
  return (
    <dl className="event-rows">
      {rows.map(([name, value], index) => (
        <div key={`${name} ${index}`}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function Part({ title, text }: { title: string; text: string }) {
  return (
    <>
      <h3>
        {title} <CopyButton text={text} label={`Copy: ${title}`} />
      </h3>
      <pre className="event-body" tabIndex={0} aria-label={title}>
        {text}
      </pre>
    </>
  )
}

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    // It is not JSON, or was cut.
    return body
  }
}

interface Stack {
  readonly callFrames?: readonly {
    functionName?: string
    url?: string
    lineNumber?: number
    columnNumber?: number
  }[]
}

function stackOf(value: unknown): string {
  const frames = isTable(value) ? (value as Stack).callFrames : undefined
  if (!Array.isArray(frames)) return asText(value)
  return (frames as NonNullable<Stack['callFrames']>)
    .map(
      ({ functionName, url, lineNumber = 0, columnNumber = 0 }) =>
        `${functionName === '' ? '(anonymous)' : functionName} at ${url}:${lineNumber + 1}:${columnNumber + 1}`,
    )
    .join('\n')
}
