// https://homebridge.io: the user interface only, without a bridge.
import { pbkdf2Sync, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newUser } from '../../fixtures/login-zoo/kit/site.ts'
import { fill, right, wrongPassword } from '../../fixtures/login-zoo/kit/variants.ts'
import { installFromNpm } from '../packages.ts'
import { freePort } from '../../fixtures/free-port.ts'
import { serve } from '../processes.ts'
import type { Software } from '../software.ts'

const user = newUser('homebridge')

export const homebridge: Software = {
  name: 'homebridge',
  kind: 'An Angular application whose button is an icon; the session is a token in localStorage',
  users: [user],
  variants: [
    right(fill('username', 'password')),
    wrongPassword('Invalid username or password', fill('username', 'password')),
  ],
  async install(directory) {
    await installFromNpm(directory, ['homebridge@1.11.4', 'homebridge-config-ui-x@5.10.0'])
    const salt = randomBytes(32).toString('hex')
    const hashedPassword = pbkdf2Sync(user.password, salt, 1_000, 64, 'sha512').toString('hex')
    const { username, name } = user
    const users = [{ id: 1, username, name, hashedPassword, salt, admin: true }]
    await writeFile(join(directory, 'auth.json'), JSON.stringify(users))
    return {
      async start(owner) {
        const port = await freePort()
        const url = `http://127.0.0.1:${port}/`
        const bridge = { name: 'Harbour', username: '0E:41:42:43:44:45', port: 0, pin: '031-45-154' }
        const config = { platform: 'config', name: 'Config', host: '127.0.0.1', port, auth: 'form' }
        const settings = { bridge, accessories: [], platforms: [config] }
        await writeFile(join(directory, 'config.json'), JSON.stringify(settings))
        const args = ['node_modules/homebridge-config-ui-x/dist/bin/standalone.js']
        const env = {
          HOME: directory,
          UIX_STORAGE_PATH: directory,
          UIX_CONFIG_PATH: join(directory, 'config.json'),
        }
        await serve(owner, { command: process.execPath, args, cwd: directory, env }, url)
        return {
          url,
          async isSignedIn({ local }) {
            const headers = { authorization: `Bearer ${local['access_token']}` }
            return (await fetch(`${url}api/auth/check`, { headers })).ok
          },
        }
      },
    }
  },
  async walk(tab, person) {
    await tab.fill('#form-username', person.value('username'))
    await tab.fill('#form-pass', person.value('password'))
    await tab.click('[type=submit]')
  },
}
