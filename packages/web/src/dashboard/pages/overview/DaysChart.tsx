// Sessions as bars and minutes as a line, in the colours of the page.
import { useEffect, useRef } from 'react'
import UPlot from 'uplot'
import { colour, onTheme } from '../../parts/theme.ts'
import type { Day } from './Days.tsx'

const HEIGHT = 190
const BAR = 0.6
const DAY = 86_400

export function DaysChart({ days }: { days: readonly Day[] }) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = place.current!
    let chart = draw(element, days)
    const redraw = () => {
      chart.destroy()
      chart = draw(element, days)
    }
    const unlisten = onTheme(redraw)
    const resized = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }))
    resized.observe(element)
    return () => {
      unlisten()
      resized.disconnect()
      chart.destroy()
    }
  }, [days])
  // The table beside it says the same.
  return <div className="chart" ref={place} aria-hidden="true" />
}

function draw(element: HTMLElement, days: readonly Day[]): UPlot {
  const text = colour('--quiet')
  const grid = { stroke: colour('--line'), width: 1 }
  const axis = { stroke: text, grid, ticks: { show: false }, font: '12px system-ui' }
  return new UPlot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      legend: { show: true, live: true },
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
      scales: {
        x: { time: true, range: withMargin },
        sessions: { range: fromZero },
        minutes: { range: fromZero },
      },
      // Days are those of UTC.
      tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
      axes: [
        { ...axis, grid: { show: false }, values: (_chart, ticks) => ticks.map(dayOf), space: 60 },
        { ...axis, scale: 'sessions', size: 44, incrs: wholes },
        { ...axis, scale: 'minutes', side: 1, size: 52, grid: { show: false }, incrs: wholes },
      ],
      series: [
        { label: 'Day', value: (_chart, at) => (at === null ? '' : dayOf(at)) },
        {
          label: 'Sessions',
          scale: 'sessions',
          fill: colour('--accent'),
          width: 0,
          paths: UPlot.paths.bars!({ size: [BAR, 40] }),
          points: { show: false },
        },
        {
          label: 'Minutes',
          scale: 'minutes',
          stroke: colour('--good'),
          width: 2,
          points: { show: false },
        },
      ],
    },
    [
      days.map(({ date }) => Date.parse(`${date}T00:00:00Z`) / 1_000),
      days.map(({ sessions }) => sessions),
      days.map(({ minutes }) => minutes),
    ],
    element,
  )
}

/** The bars of the first and the last day are as wide as the others. */
const withMargin = (_chart: UPlot, min: number, max: number): [number, number] => [
  min - DAY / 2,
  max + DAY / 2,
]
const fromZero = (_chart: UPlot, _min: number, max: number): [number, number] => [0, Math.max(max * 1.1, 4)]
const wholes = [1, 2, 5]
  .flatMap((digit) => [0, 1, 2, 3, 4, 5, 6].map((power) => digit * 10 ** power))
  .toSorted((a, b) => a - b)
const dayOf = (seconds: number) =>
  new Date(seconds * 1_000).toLocaleDateString('en', { month: 'short', day: 'numeric', timeZone: 'UTC' })
