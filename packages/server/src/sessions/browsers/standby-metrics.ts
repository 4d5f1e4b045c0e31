// What standby saves on this server, and what waking costs.
import type { Metrics } from '../../platform/metrics/metrics.ts'
import type { DeepStandby } from './deep-standby.ts'
import type { LiveSession } from './live-session.ts'
import type { LiveSessions } from './live-sessions.ts'

interface Watched {
  readonly live: Pick<LiveSessions, 'running' | 'wakes'>
  readonly deepStandby: Pick<DeepStandby, 'report' | 'swap' | 'waiting'>
}

export function watchStandby(metrics: Metrics, { live, deepStandby }: Watched): void {
  const byDepth = (of: (session: LiveSession) => number) => {
    const totals = { awake: 0, light: 0, deep: 0 }
    for (const session of live.running.values()) totals[session.depth ?? 'awake'] += of(session)
    return totals
  }
  metrics.gauge({
    name: 'berth_deep_standby_available',
    help: 'Whether sessions on standby can give their memory back (1), or not (0)',
    read: () => (deepStandby.report.place === undefined ? 0 : 1),
  })
  metrics.gaugeBy('standby', {
    name: 'berth_sessions_by_standby',
    help: 'Sessions of this server that are awake, or in light or deep standby',
    read: () => byDepth(() => 1),
  })
  metrics.gaugeBy('standby', {
    name: 'berth_session_resident_bytes',
    help: 'Memory that these sessions take, without what is in swap',
    read: () => byDepth(({ memory }) => memory?.residentBytes ?? 0),
  })
  metrics.gaugeBy('standby', {
    name: 'berth_session_swapped_bytes',
    help: 'Memory of these sessions that is in swap',
    read: () => byDepth(({ memory }) => memory?.swappedBytes ?? 0),
  })
  metrics.gaugeBy('state', {
    name: 'berth_deep_standby_swap_bytes',
    help: 'Swap for deep standby: what is free, and all of it',
    read: () => ({ free: deepStandby.swap.freeBytes, total: deepStandby.swap.totalBytes }),
  })
  metrics.gauge({
    name: 'berth_sessions_waiting_to_wake',
    help: 'Sessions that wait for memory to wake from deep standby',
    read: () => deepStandby.waiting,
  })
  metrics.counterBy('standby', {
    name: 'berth_session_wakes_total',
    help: 'How often sessions woke, from light or deep standby',
    read: () => live.wakes.counts,
  })
  metrics.counterBy('standby', {
    name: 'berth_session_wake_milliseconds_total',
    help: 'How long these wakes took together, as in last_wake_ms',
    read: () => live.wakes.milliseconds,
  })
}
