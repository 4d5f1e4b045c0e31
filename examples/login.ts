// A person logs in once, and programs use the login afterwards. Nobody but the person sees the password.
//
//   node login.ts https://mail.example.com
import Kernel from '@onkernel/sdk'
import { chromium } from 'playwright-core'

const site = new URL(process.argv[2] ?? 'https://mail.example.com')
const berth = new Kernel()
const profile = site.hostname

const known = await berth.auth.connections.list({ domain: site.host, profile_name: profile })
const connection =
  known.items[0] ?? (await berth.auth.connections.create({ domain: site.host, profile_name: profile }))
const { hosted_url } = await berth.auth.connections.login(connection.id)
console.log(`Open this page and log in: ${hosted_url}`)

for await (const event of await berth.auth.connections.follow(connection.id)) {
  if (event.event !== 'managed_auth_state') continue
  if (event.flow_step === 'AWAITING_INPUT') console.log('Waiting for you')
  if (event.flow_status === 'IN_PROGRESS') continue
  if (event.flow_status !== 'SUCCESS') throw new Error(event.error_message ?? `Login: ${event.flow_status}`)
}
console.log('Logged in')

// From here on, every session with the profile is logged in.
const session = await berth.browsers.create({ headless: true, profile: { name: profile } })
try {
  const browser = await chromium.connectOverCDP(session.cdp_ws_url)
  const page = browser.contexts()[0]!.pages()[0]!
  await page.goto(site.href)
  console.log(await page.title())
  await browser.close()
} finally {
  await berth.browsers.deleteByID(session.session_id)
}
