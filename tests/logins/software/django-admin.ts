// https://www.djangoproject.com, the admin site of an empty project.
import { join } from 'node:path'
import { newUser } from '../../fixtures/login-zoo/kit/site.ts'
import { fill, right, wrongPassword } from '../../fixtures/login-zoo/kit/variants.ts'
import { installFromPypi } from '../packages.ts'
import { freePort } from '../../fixtures/free-port.ts'
import { run, serve } from '../processes.ts'
import type { Software } from '../software.ts'

const user = newUser('django-admin')

export const djangoAdmin: Software = {
  name: 'django-admin',
  kind: 'A form whose token must match a cookie; the start page has no link to the form',
  users: [user],
  variants: [
    right(fill('username', 'password')),
    wrongPassword('Please enter the correct username and password', fill('username', 'password')),
  ],
  loginPath: '/admin/',
  checkPath: '/admin/',
  async install(directory) {
    const python = await installFromPypi(directory, ['django==5.2.17'])
    const cwd = join(directory, 'harbour')
    await run({ command: python, args: ['-m', 'django', 'startproject', 'harbour'], cwd: directory })
    const manage = (args: readonly string[], env = {}) =>
      run({ command: python, args: ['manage.py', ...args], cwd, env })
    await manage(['migrate', '--verbosity', '0'])
    await manage(['createsuperuser', '--noinput', '--username', user.username, '--email', user.email], {
      DJANGO_SUPERUSER_PASSWORD: user.password,
    })
    return {
      async start(owner) {
        const port = await freePort()
        const url = `http://127.0.0.1:${port}/`
        const args = ['manage.py', 'runserver', '--noreload', `127.0.0.1:${port}`]
        await serve(owner, { command: python, args, cwd }, url)
        return {
          url,
          async isSignedIn({ cookies }) {
            const answer = await fetch(`${url}admin/`, { headers: { cookie: cookies }, redirect: 'manual' })
            return answer.status === 200
          },
          async signOut() {
            const code = 'from django.contrib.sessions.models import Session; Session.objects.all().delete()'
            await manage(['shell', '-v', '0', '-c', code])
          },
        }
      },
    }
  },
  async walk(tab, person) {
    await tab.fill('#id_username', person.value('username'))
    await tab.fill('#id_password', person.value('password'))
    await tab.click('[type=submit]')
  },
}
