import Kernel, { type KernelContext } from '@onkernel/sdk'

const kernel = new Kernel() // finds its key and its server by itself
const app = kernel.app('APP_NAME')

interface Input {
  /** The website, such as mail.example.com. */
  domain: string
  /** Where only somebody who is logged in gets to. */
  url: string
  /** The profile that stays logged in. */
  profile?: string
}

/**
 * Opens a page in a profile that Berth keeps logged in. Without a connection it makes one, and answers with the address
 * where a person logs in once; a stored credential makes even that unnecessary.
 */
app.action('check', async ({ invocation_id }: KernelContext, input?: Input) => {
  if (!input?.domain || !input.url) throw new Error('The payload needs a domain and a url')
  const { domain, url, profile = 'APP_NAME' } = input
  const [known] = (await kernel.auth.connections.list({ domain, profile_name: profile })).items
  const connection = known ?? (await kernel.auth.connections.create({ domain, profile_name: profile }))
  if (connection.status !== 'AUTHENTICATED') {
    const { hosted_url } = await kernel.auth.connections.login(connection.id)
    console.log(`${domain} needs a login`)
    return { loggedIn: false, connection: connection.id, logInHere: hosted_url }
  }
  const session = await kernel.browsers.create({ invocation_id, headless: true, profile: { name: profile } })
  const { success, result, error } = await kernel.browsers.playwright.execute(session.session_id, {
    code: `await page.goto(${JSON.stringify(url)}); return { url: page.url(), title: await page.title() }`,
  })
  if (!success) throw new Error(error)
  return { loggedIn: true, connection: connection.id, page: result }
})
