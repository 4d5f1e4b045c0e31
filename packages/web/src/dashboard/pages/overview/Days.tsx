import { lazy, Suspense } from 'react'
import type { Overview } from '@berth/contracts/overview'
import { Card } from '../../parts/Page.tsx'

const DaysChart = lazy(() => import('./DaysChart.tsx').then((module) => ({ default: module.DaysChart })))

export type Day = Overview['days'][number]

const counted = (count: number, what: string) =>
  `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`

export function Days({ days }: { days: readonly Day[] }) {
  const sessions = days.reduce((total, day) => total + day.sessions, 0)
  const minutes = days.reduce((total, day) => total + day.minutes, 0)
  return (
    <Card title={`The last ${days.length} days`}>
      <p className="key">
        <span className="number">
          <i className="bar-key" aria-hidden="true" /> {counted(sessions, 'session')}
        </span>
        <span className="number">
          <i className="line-key" aria-hidden="true" /> {counted(Math.round(minutes), 'minute')}
        </span>
      </p>
      <Suspense fallback={<div className="chart" />}>
        <DaysChart days={days} />
      </Suspense>
      <div className="unseen">
        <table>
          <caption>Sessions and minutes on each day, in UTC</caption>
          <thead>
            <tr>
              <th>Day</th>
              <th>Sessions</th>
              <th>Minutes</th>
            </tr>
          </thead>
          <tbody>
            {days.map(({ date, sessions: count, minutes: spent }) => (
              <tr key={date}>
                <td>{date}</td>
                <td>{count}</td>
                <td>{spent}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  )
}
