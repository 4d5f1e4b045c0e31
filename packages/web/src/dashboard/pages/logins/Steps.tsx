// What a login saw and did. Read when somebody opens it.
import { useEffect, useState } from 'react'
import type { ExplainedLoginStep, LoginExplanation, TimelineEvent } from '@berth/contracts/auth-connections'
import { useApi, useAsk } from '../../api/context.ts'
import { Pending } from '../../parts/Notes.tsx'
import { Time } from '../../parts/Time.tsx'
import { useOne } from '../../parts/use-one.ts'

interface Place {
  readonly connectionId: string
  readonly event: TimelineEvent
}

export function Steps({ connectionId, event }: Place) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Steps</summary>
      {isOpen && <OpenSteps connectionId={connectionId} event={event} />}
    </details>
  )
}

const pathOf = ({ connectionId, event }: Place) =>
  `/auth/connections/${encodeURIComponent(connectionId)}/timeline/${encodeURIComponent(event.id)}`

function OpenSteps(place: Place) {
  const ask = useAsk()
  const path = pathOf(place)
  const query = useOne<LoginExplanation>(
    ['auth_connection', 'steps', place.event.id, place.event.updated_at],
    (signal) => ask(path, { signal }),
  )
  if (!query.data) return <Pending query={query} what="the steps" />
  const { steps } = query.data
  if (steps.length === 0) return <p className="quiet">Nothing was noted.</p>
  return (
    <ol className="steps">
      {steps.map((step) => (
        <Step key={step.number} step={step} path={path} />
      ))}
    </ol>
  )
}

function Step({ step, path }: { step: ExplainedLoginStep; path: string }) {
  return (
    <li value={step.number}>
      <span className="strong">{step.why}</span>{' '}
      <span className="quiet">
        <Time at={step.timestamp} />
      </span>
      {step.url !== undefined && <p className="quiet">{step.url}</p>}
      <p>Saw {step.saw}</p>
      {step.did.length > 0 && (
        <ul>
          {step.did.map((text, index) => (
            <li key={`${index}${text}`}>{text}</li>
          ))}
        </ul>
      )}
      {step.has_picture && <Picture path={`${path}/steps/${step.number}/picture`} step={step} />}
    </li>
  )
}

function Picture({ path, step }: { path: string; step: ExplainedLoginStep }) {
  const [isOpen, setOpen] = useState(false)
  const what = step.has_photo ? 'Photo, with its fields covered' : 'Drawing of what the rules saw'
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{what}</summary>
      {isOpen && <Image path={path} alt={`Step ${step.number}: ${step.saw}`} />}
    </details>
  )
}

function Image({ path, alt }: { path: string; alt: string }) {
  const { client } = useApi()
  const [url, setUrl] = useState<string>()
  const query = useOne<string>(['auth_connection', 'step-picture', path], async (signal) =>
    (await client.get(path, { signal }).asResponse()).text(),
  )
  const { data } = query
  useEffect(() => {
    if (data === undefined) return undefined
    const made = URL.createObjectURL(new Blob([data], { type: 'image/svg+xml' }))
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [data])
  if (url === undefined) return <Pending query={query} what="the picture" />
  return <img className="step-picture" src={url} alt={alt} />
}
