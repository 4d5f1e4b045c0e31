// https://jupyter.org: the notebook server with a password.
import { newUser } from '../../fixtures/login-zoo/kit/site.ts'
import { fill, right, wrongPassword } from '../../fixtures/login-zoo/kit/variants.ts'
import { installFromPypi } from '../packages.ts'
import { freePort } from '../../fixtures/free-port.ts'
import { run, serve } from '../processes.ts'
import type { Software } from '../software.ts'

const user = newUser('jupyter')

export const jupyter: Software = {
  name: 'jupyter',
  kind: 'A password without a user name; the session is a signed cookie',
  users: [user],
  variants: [right(fill('password')), wrongPassword('Invalid credentials', fill('password'))],
  async install(directory) {
    const python = await installFromPypi(directory, ['notebook==7.6.3'])
    const code = 'import sys; from jupyter_server.auth import passwd; print(passwd(sys.argv[1]))'
    const hash = (await run({ command: python, args: ['-c', code, user.password], cwd: directory })).trim()
    const env = {
      HOME: directory,
      JUPYTER_CONFIG_DIR: directory,
      JUPYTER_DATA_DIR: directory,
      JUPYTER_RUNTIME_DIR: directory,
    }
    return {
      async start(owner) {
        const port = await freePort()
        const url = `http://127.0.0.1:${port}/`
        const options = [
          '--no-browser',
          '--allow-root',
          '--ServerApp.ip=127.0.0.1',
          `--ServerApp.port=${port}`,
          '--ServerApp.port_retries=0',
          `--PasswordIdentityProvider.hashed_password=${hash}`,
        ]
        await serve(
          owner,
          { command: python, args: ['-m', 'notebook', ...options], cwd: directory, env },
          url,
        )
        return {
          url,
          isSignedIn: async ({ cookies }) =>
            (await fetch(`${url}api/me`, { headers: { cookie: cookies } })).ok,
        }
      },
    }
  },
  async walk(tab, person) {
    await tab.fill('#password_input', person.value('password'))
    await tab.click('#login_submit')
  },
}
