import type { BrowserPool } from '@berth/contracts/browser-pools'
import { Card, Facts } from '../../parts/Page.tsx'
import { duration } from '../../parts/Time.tsx'

export function PoolFacts({ pool }: { pool: BrowserPool }) {
  const { browser_pool_config: config, region, profile_id: profileId, extension_ids: extensions } = pool
  const { viewport, timeout_seconds: timeout, fill_rate_per_minute: rate } = config
  return (
    <Card title="Settings of new browsers">
      <Facts
        facts={[
          ['Size', config.size],
          ['Fill rate', rate === undefined ? undefined : `${rate} % a minute`],
          [
            'A lease ends after',
            timeout === undefined ? undefined : `${duration(timeout * 1_000)} without use`,
          ],
          ['Browser', `${config.headless ? 'Headless' : 'Headful'}${config.stealth ? ', stealth' : ''}`],
          [
            'Screen',
            viewport && `${viewport.width} × ${viewport.height}${config.kiosk_mode ? ', kiosk' : ''}`,
          ],
          ['Address', config.start_url],
          ['Profile', config.profile?.name ?? config.profile?.id ?? profileId],
          ['Extensions', extensions.length === 0 ? undefined : extensions.length],
          ['Proxy', config.proxy_id],
          ['Private hosts', config.network?.private_hosts?.join(', ')],
          ['Policies', config.chrome_policy && Object.keys(config.chrome_policy).join(', ')],
          ['On release', config.reset_on_release ? 'The next lease gets an unused browser' : undefined],
          ['Region', region],
        ]}
      />
    </Card>
  )
}
