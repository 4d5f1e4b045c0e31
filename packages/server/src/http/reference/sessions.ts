import { endReasons, type EndReason } from '@berth/contracts/browsers'
import { endings } from '../../sessions/gateway/endings.ts'
import { html } from './html.ts'
import type { GuideSection } from './section.ts'

const meanings: Readonly<Record<EndReason, string>> = {
  deleted: 'somebody deleted it',
  timed_out: 'nobody used it for its timeout_seconds',
  crashed: 'its instance died or stopped answering, or its browser crashed again and again',
  out_of_memory: 'it used more memory than a session has',
  start_failed: 'its browser could not be started; the answer to the create said why',
  server_stopped: 'an operator stopped the server and all its sessions',
  lost: 'its server was away for longer than the lease',
  released: 'its lease is over: it was given back to its pool',
}

export const sessionsSection: GuideSection = {
  id: 'sessions',
  title: 'Sessions',
  text: html`<p>
      A session is a Chromium of its own in a sandbox of its own. Its URLs carry a token that works for as
      long as the session lives, whoever has it: <code>cdp_ws_url</code> for Playwright, Puppeteer and other
      clients of the DevTools protocol, <code>webdriver_ws_url</code> for WebDriver BiDi. Closing a client
      ends its connection, not the session; the next one finds the pages as they were.
    </p>
    <p>
      A headful session also has a <code>browser_live_view_url</code>: a page that shows its screen and takes
      mouse, keyboard, clipboard, touch and files, alone or in a frame of yours (<code
        >allow="clipboard-read; clipboard-write; fullscreen"</code
      >). With <code>&readOnly=true</code> the server takes no input; who has the link can leave that away, so
      to somebody who shall only watch give a link of <code>POST /browsers/{id}/live_view_links</code>, which
      is so by its token and ends after a while. That also works for headless sessions. While somebody
      watches, the viewport is not changed unless <code>force</code> is set.
    </p>
    <p>
      A session that nobody uses is put on standby after 5 seconds: it stands still, costs no processor time,
      and does not count its uptime. The next connection or call wakes it within milliseconds. With
      <code>standby_after_seconds</code> it also sleeps while clients are connected and silent. After
      <code>timeout_seconds</code> without use it ends. A connected client is use.
    </p>
    <p>
      At its creation a session takes <code>extensions</code> of the project, a <code>chrome_policy</code>, a
      <code>locale</code> and a <code>timezone</code>; extensions also later, by
      <code>POST /browsers/{id}/extensions</code>. With <code>stealth</code> nothing tells pages that the
      browser is automated: no <code>navigator.webdriver</code>, one story in user agent, client hints,
      languages and sizes, nothing injected. A machine without a GPU cannot hide that WebGL is drawn by
      software, nor that it has no cameras, microphones or voices, and few fonts.
    </p>
    <p>
      With <code>profile</code> a session starts from what another one knew: cookies, local storage,
      IndexedDB, service workers and open tabs, unless <code>start_url</code> takes their place. With
      <code>save_changes</code> it is saved into the profile when it is deleted or times out;
      <code>profile_save</code> of <code>GET /browsers/{id}?include_deleted=true</code> tells what became of
      it. A session that is created with the profile meanwhile waits for that. Of two that are saved the later
      one is what sessions start from; the other stays a version, and
      <code>POST /profiles/{id_or_name}/versions/{version}/restore</code> brings it back.
    </p>
    <p>
      When a session ends, its clients get a websocket close with a code and a reason, and
      <code>GET /browsers/{id}?include_deleted=true</code> has it as <code>end_reason</code>. Code 1001 while
      the session lives means that the browser or the server was started again: connect once more, to the same
      URL.
    </p>
    <table class="catalogue">
      <thead>
        <tr>
          <th>Reason</th>
          <th>Code</th>
          <th>Meaning</th>
        </tr>
      </thead>
      <tbody>
        ${endReasons.map(
          (reason) =>
            html`<tr>
              <td><code>${reason}</code></td>
              <td>${String(endings[reason].code)}</td>
              <td>${meanings[reason]}</td>
            </tr>`,
        )}
      </tbody>
    </table>`,
  samples: [
    {
      caption: 'Playwright',
      code: `const session = await client.browsers.create({ headless: true })
const browser = await chromium.connectOverCDP(session.cdp_ws_url)
const page = browser.contexts()[0].pages()[0]
await page.goto('https://example.com')
await client.browsers.deleteByID(session.session_id)`,
    },
    {
      caption: 'Puppeteer, over BiDi',
      code: `const browser = await puppeteer.connect({
  browserWSEndpoint: session.webdriver_ws_url,
  protocol: 'webDriverBiDi',
})`,
    },
  ],
}
