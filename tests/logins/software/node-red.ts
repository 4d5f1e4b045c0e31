// https://nodered.org, with adminAuth in its settings.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newUser } from '../../fixtures/login-zoo/kit/site.ts'
import { fill, right, wrongPassword } from '../../fixtures/login-zoo/kit/variants.ts'
import { installFromNpm } from '../packages.ts'
import { freePort } from '../../fixtures/free-port.ts'
import { run, serve } from '../processes.ts'
import type { Kept, Software } from '../software.ts'

const user = newUser('node-red')
const authorization = ({ local }: Kept) => {
  const { access_token } = JSON.parse(local['auth-tokens'] ?? '{}') as { access_token?: string }
  return { authorization: `Bearer ${access_token}` }
}

export const nodeRed: Software = {
  name: 'node-red',
  kind: 'A page drawn by script; the login is a dialog, and the session is a token in localStorage',
  users: [user],
  variants: [
    right(fill('username', 'password')),
    wrongPassword('Login failed', fill('username', 'password')),
  ],
  async install(directory) {
    await installFromNpm(directory, ['node-red@4.1.15'])
    const code = `console.log(require('bcryptjs').hashSync(${JSON.stringify(user.password)}, 8))`
    const password = (await run({ command: process.execPath, args: ['-e', code], cwd: directory })).trim()
    const settings = {
      uiHost: '127.0.0.1',
      credentialSecret: 'zoo',
      telemetry: { enabled: false, updateNotification: false },
      editorTheme: { tours: false },
      adminAuth: { type: 'credentials', users: [{ username: user.username, password, permissions: '*' }] },
    }
    await writeFile(join(directory, 'settings.js'), `module.exports = ${JSON.stringify(settings)}`)
    return {
      async start(owner) {
        const port = await freePort()
        const url = `http://127.0.0.1:${port}/`
        const args = [
          'node_modules/node-red/red.js',
          '-u',
          directory,
          '-s',
          'settings.js',
          '-p',
          String(port),
        ]
        await serve(owner, { command: process.execPath, args, cwd: directory }, url)
        return {
          url,
          isSignedIn: async (kept) =>
            (await fetch(`${url}settings/user`, { headers: authorization(kept) })).ok,
          async signOut(kept) {
            const { access_token: token } = JSON.parse(kept.local['auth-tokens'] ?? '{}') as {
              access_token?: string
            }
            await fetch(`${url}auth/revoke`, {
              method: 'POST',
              headers: { ...authorization(kept), 'content-type': 'application/json' },
              body: JSON.stringify({ token }),
            })
          },
        }
      },
    }
  },
  async walk(tab, person) {
    await tab.fill('#node-dialog-login-username', person.value('username'))
    await tab.fill('#node-dialog-login-password', person.value('password'))
    await tab.click('#node-dialog-login-submit')
  },
}
