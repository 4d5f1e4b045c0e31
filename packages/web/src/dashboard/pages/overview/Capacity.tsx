import type { Overview } from '@berth/contracts/overview'
import { Card } from '../../parts/Page.tsx'

type Counts = Overview['capacity']['sessions']['in_use']
const sum = ({ headless, headful }: Counts) => headless + headful

export function Capacity({ capacity: { sessions, warm, places } }: { capacity: Overview['capacity'] }) {
  const max = places.project_max ?? places.max
  const kinds = [
    ['In use', sum(sessions.in_use), 'good'],
    ['On standby', sum(sessions.standby), 'accent'],
    ['Starting', sum(sessions.starting), 'warn'],
  ] as const
  const pooledMax = places.project_pooled_max ?? places.pooled_max
  return (
    <Card title="Capacity">
      <p className="big number">
        {places.used} <span className="quiet">of {max} places taken</span>
      </p>
      <meter
        min={0}
        max={Math.max(max, 1)}
        value={places.used}
        high={max * 0.9}
        optimum={0}
        aria-label="Places taken"
      />
      <dl className="counts">
        {kinds.map(([name, count, tone]) => (
          <Count key={name} name={name} value={String(count)} tone={count > 0 ? tone : 'quiet'} />
        ))}
        <Count name="Warm headless" value={`${warm.headless.ready} of ${warm.headless.wanted}`} />
        <Count name="Warm headful" value={`${warm.headful.ready} of ${warm.headful.wanted}`} />
        {warm.gpu.wanted > 0 && (
          <Count name="Warm with a GPU" value={`${warm.gpu.ready} of ${warm.gpu.wanted}`} />
        )}
        <Count name="Idle in pools" value={String(sum(sessions.idle_in_pools))} />
        <Count name="Places of pools" value={`${places.pooled_used} of ${pooledMax}`} />
      </dl>
    </Card>
  )
}

function Count({ name, value, tone }: { name: string; value: string; tone?: string }) {
  return (
    <div>
      <dt className="quiet">{name}</dt>
      <dd className={`number ${tone ?? ''}`}>{value}</dd>
    </div>
  )
}
