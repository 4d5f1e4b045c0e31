// https://fossil-scm.org, as Debian packages it: a repository with its own web server, written in C.
import { join } from 'node:path'
import { newUser } from '../../fixtures/login-zoo/kit/site.ts'
import { fill, right, wrongPassword } from '../../fixtures/login-zoo/kit/variants.ts'
import { librariesOf, unpackFromDebian } from '../packages.ts'
import { freePort } from '../../fixtures/free-port.ts'
import { run, serve } from '../processes.ts'
import type { Software } from '../software.ts'

const user = newUser('fossil')

export const fossil: Software = {
  name: 'fossil',
  kind: 'A form in a table without labels; visitors can also log in as anonymous with a captcha made of letters',
  users: [user],
  variants: [
    right(fill('username', 'password')),
    wrongPassword('You entered an unknown user or an incorrect password', fill('username', 'password')),
  ],
  async install(directory) {
    const root = await unpackFromDebian(directory, ['fossil', 'libfuse2'])
    const repository = join(directory, 'harbour.fossil')
    const command = (...args: readonly string[]) => ({
      command: join(root, 'usr/bin/fossil'),
      args,
      cwd: directory,
      env: { ...librariesOf(root), HOME: directory, USER: user.username },
    })
    await run(command('init', repository, '--admin-user', user.username))
    await run(command('user', 'password', user.username, user.password, '-R', repository))
    return {
      async start(owner) {
        const port = await freePort()
        const url = `http://127.0.0.1:${port}/`
        await serve(owner, command('server', repository, '--localhost', '--port', String(port)), url)
        return {
          url,
          async isSignedIn({ cookies }) {
            const answer = await fetch(`${url}setup`, { headers: { cookie: cookies }, redirect: 'manual' })
            return answer.status === 200
          },
          async signOut() {
            await run(command('sql', '-R', repository, 'UPDATE user SET cookie = NULL, cexpire = 0'))
          },
        }
      },
    }
  },
  async walk(tab, person) {
    await tab.click('.status a[href*="/login"]')
    await tab.fill('#u', person.value('username'))
    await tab.fill('#p', person.value('password'))
    await tab.click('[name=in]')
  },
}
