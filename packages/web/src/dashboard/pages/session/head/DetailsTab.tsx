// Every setting of the session, as the API shows it.
import { Code } from '../../../parts/Copy.tsx'
import { Card, Facts } from '../../../parts/Page.tsx'
import { Time, duration } from '../../../parts/Time.tsx'
import { hasEnded, useSession } from '../session.ts'

/** They hold tokens. */
const secrets = ['cdp_ws_url', 'webdriver_ws_url', 'playwright_ws_url', 'browser_live_view_url', 'base_url']
const yesNo = (is: boolean | undefined) => (is === undefined ? undefined : is ? 'yes' : 'no')

export default function DetailsTab() {
  const session = useSession()
  const shown = Object.fromEntries(Object.entries(session).filter(([name]) => !secrets.includes(name)))
  return (
    <div className="tab-scroll">
      <Card>
        <Facts
          facts={[
            ['Created', <Time key="at" at={session.created_at} />],
            ['Ended', hasEnded(session) && session.deleted_at ? <Time at={session.deleted_at} /> : undefined],
            ['Ran for', session.usage ? duration(session.usage.uptime_ms) : undefined],
            ['Screen', session.headless ? 'headless' : 'headful'],
            [
              'Window',
              session.viewport ? `${session.viewport.width} × ${session.viewport.height}` : undefined,
            ],
            ['Stealth', yesNo(session.stealth)],
            ['GPU', yesNo(session.gpu)],
            ['Start page', session.start_url],
            ['Language', session.locale],
            ['Time zone', session.timezone],
            ['Pool', session.pool?.name ?? session.pool?.id],
            ['Profile', session.profile?.name ?? session.profile?.id],
            ['Profile is saved at the end', yesNo(session.profile_save_changes)],
            ['Save of the profile', session.profile_save?.state],
            ['Proxy', session.proxy?.name ?? session.proxy?.id ?? session.proxy?.mode],
          ]}
        />
      </Card>
      <Code text={JSON.stringify(shown, null, 2)} label="The session as JSON, without its secret URLs" />
    </div>
  )
}
