import type { BrowserPool } from '@berth/contracts/browser-pools'

type Counts = Pick<BrowserPool, 'available_count' | 'acquired_count' | 'browser_pool_config'>

/** How much of a pool is leased, available, and still to be filled. */
export function Fill({ pool }: { pool: Counts }) {
  const { available_count: available, acquired_count: leased, browser_pool_config: config } = pool
  const size = Math.max(config.size, available + leased, 1)
  const missing = Math.max(config.size - available - leased, 0)
  const about = `${leased} leased, ${available} available${missing > 0 ? `, ${missing} to fill` : ''}`
  return (
    <span className="fill" title={`${about}, of ${config.size}`}>
      <svg viewBox={`0 0 ${size} 1`} preserveAspectRatio="none" aria-hidden="true">
        <rect className="leased" width={leased} height="1" />
        <rect className="available" x={leased} width={available} height="1" />
      </svg>
      <span className="number">{about}</span>
    </span>
  )
}
