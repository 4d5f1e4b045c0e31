// Times as people say them, with the exact one on hover.
import { useSyncExternalStore } from 'react'

const TICK_MS = 10_000
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined
let now = Date.now()

/** One clock for all times of the page. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    now = Date.now()
    for (const each of listeners) each()
  }, TICK_MS)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

export const useNow = () => useSyncExternalStore(subscribe, () => now)

export function Time({ at }: { at: string | number | Date }) {
  const current = useNow()
  const date = new Date(at)
  const ms = date.getTime() - Math.max(current, Date.now() - TICK_MS)
  // The clock of the page ticks seldom: what has happened is not to come.
  const isPast = date.getTime() <= Date.now()
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {relative(isPast ? Math.min(ms, 0) : ms)}
    </time>
  )
}

const units: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000_000],
  ['month', 2_592_000_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
]
const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

export function relative(ms: number): string {
  const found = units.find(([, size]) => Math.abs(ms) >= size)
  if (!found) return ms <= 0 ? 'just now' : 'in a moment'
  const [unit, size] = found
  return words.format(Math.trunc(ms / size), unit)
}

/** 1 h 5 min, 3 min 20 s, 2 min, 12 s, 340 ms. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  const seconds = Math.round(ms / 1_000)
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3_600) % 24,
    Math.floor(seconds / 60) % 60,
  ]
  if (days > 0) return both(`${days} d`, hours, 'h')
  if (hours > 0) return both(`${hours} h`, minutes, 'min')
  if (minutes > 0) return both(`${minutes} min`, seconds % 60, 's')
  return `${seconds} s`
}

const both = (large: string, count: number, unit: string) =>
  count === 0 ? large : `${large} ${count} ${unit}`

export function bytes(count: number): string {
  if (count < 1_000) return `${count} B`
  const power = Math.min(Math.floor(Math.log10(count) / 3), 4)
  const value = count / 1_000 ** power
  return `${value >= 100 ? Math.round(value) : value.toFixed(1)} ${['B', 'kB', 'MB', 'GB', 'TB'][power]}`
}
