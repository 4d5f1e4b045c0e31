// https://verdaccio.org, a registry for npm packages.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newUser } from '../../fixtures/login-zoo/kit/site.ts'
import { fill, right, wrongPassword } from '../../fixtures/login-zoo/kit/variants.ts'
import { installFromNpm } from '../packages.ts'
import { freePort } from '../../fixtures/free-port.ts'
import { run, serve } from '../processes.ts'
import type { Software } from '../software.ts'

const user = newUser('verdaccio')

export const verdaccio: Software = {
  name: 'verdaccio',
  kind: 'A public page drawn by script; a button in the header opens the login; the session is a token in localStorage',
  users: [user],
  variants: [
    right(fill('username', 'password')),
    wrongPassword('Invalid username or password', fill('username', 'password')),
  ],
  async install(directory) {
    // Verdaccio asks for node-fetch by a tag that some registry mirrors lack.
    await installFromNpm(directory, ['verdaccio@6.8.0'], { 'node-fetch': '2.7.0' })
    const code = `console.log(require('bcryptjs').hashSync(${JSON.stringify(user.password)}, 8))`
    const hash = (await run({ command: process.execPath, args: ['-e', code], cwd: directory })).trim()
    await writeFile(join(directory, 'htpasswd'), `${user.username}:${hash}\n`)
    const config = {
      storage: join(directory, 'storage'),
      auth: { htpasswd: { file: join(directory, 'htpasswd'), max_users: -1 } },
      packages: { '**': { access: '$authenticated', publish: '$authenticated' } },
      log: { type: 'stdout', format: 'pretty', level: 'warn' },
    }
    // Every JSON file is also a YAML file.
    await writeFile(join(directory, 'config.yaml'), JSON.stringify(config))
    return {
      async start(owner) {
        const port = await freePort()
        const url = `http://127.0.0.1:${port}/`
        const args = ['node_modules/verdaccio/bin/verdaccio', '-c', 'config.yaml', '-l', `127.0.0.1:${port}`]
        await serve(owner, { command: process.execPath, args, cwd: directory }, `${url}-/ping`)
        return {
          url,
          async isSignedIn({ local }) {
            const headers = { authorization: `Bearer ${local['token']}` }
            const { status } = await fetch(`${url}-/verdaccio/data/sidebar/no-such-package`, { headers })
            // Users who are not signed in get another status for a missing package.
            return status === 404
          },
        }
      },
    }
  },
  async walk(tab, person) {
    await tab.click('[data-testid="header--button-login"]')
    await tab.fill('#login--dialog-username', person.value('username'))
    await tab.fill('#login--dialog-password', person.value('password'))
    await tab.click('#login--dialog-button-submit')
  },
}
