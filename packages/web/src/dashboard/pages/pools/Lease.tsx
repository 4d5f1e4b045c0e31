import type { Browser } from '@berth/contracts/browsers'
import { Link } from '@tanstack/react-router'
import { Copyable } from '../../parts/Copy.tsx'
import { Facts } from '../../parts/Page.tsx'
import { keepProject } from '../../parts/project.ts'

const url = (text: string | undefined) =>
  text === undefined || text === '' ? undefined : <Copyable text={text} />

/** A browser that was just leased: how to reach it, and how to name the lease. */
export function Lease({ session, onClose }: { session: Browser; onClose: () => void }) {
  const { session_id: id, lease_id: lease } = session
  return (
    <>
      <Facts
        facts={[
          ['Session', <Copyable key="id" text={id} />],
          ['Lease', lease === undefined ? undefined : <Copyable key="lease" text={lease} />],
          ['CDP', url(session.cdp_ws_url)],
          ['WebDriver BiDi', url(session.webdriver_ws_url)],
          ['Playwright', url(session.playwright_ws_url)],
          ['Live view', url(session.browser_live_view_url)],
        ]}
      />
      <p className="quiet">Each URL contains a token: whoever has it controls the session.</p>
      <footer className="actions">
        <button type="button" onClick={onClose}>
          Close
        </button>
        <Link to="/sessions/$id" params={{ id }} search={keepProject} className="button">
          Open the session
        </Link>
      </footer>
    </>
  )
}
