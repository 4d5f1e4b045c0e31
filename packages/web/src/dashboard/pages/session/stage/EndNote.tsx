import { Icon } from '../../../parts/Icon.tsx'
import { Time } from '../../../parts/Time.tsx'
import { endWords } from '../end-words.ts'
import { useSession } from '../session.ts'

/** Why the session ended, in plain words. */
export function EndNote() {
  const { end_reason: reason, deleted_at: endedAt } = useSession()
  const words = reason === undefined ? undefined : endWords[reason]
  return (
    <div className="note end-note" data-tone={words?.tone ?? 'quiet'}>
      <Icon name={words?.tone === 'bad' ? 'warning' : 'stop'} />
      <div>
        <p>
          <span className="strong">{words?.title ?? 'It ended'}</span>{' '}
          <span className="quiet">{endedAt !== undefined && <Time at={endedAt} />}</span>
        </p>
        {words?.remedy !== undefined && <p>{words.remedy}</p>}
      </div>
    </div>
  )
}
