// https://www.rabbitmq.com: the management page, as Debian packages it with Erlang.
import { createHash, randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newUser } from '../../fixtures/login-zoo/kit/site.ts'
import { fill, right, wrongPassword } from '../../fixtures/login-zoo/kit/variants.ts'
import { librariesOf, unpackFromDebian } from '../packages.ts'
import { freePort } from '../../fixtures/free-port.ts'
import { serve } from '../processes.ts'
import type { Software } from '../software.ts'

const user = newUser('rabbitmq')

const PACKAGES = [
  'rabbitmq-server',
  'erlang-base',
  'erlang-asn1',
  'erlang-crypto',
  'erlang-eldap',
  'erlang-inets',
  'erlang-mnesia',
  'erlang-os-mon',
  'erlang-parsetools',
  'erlang-public-key',
  'erlang-runtime-tools',
  'erlang-ssl',
  'erlang-syntax-tools',
  'erlang-tools',
  'erlang-xmerl',
]

// Otherwise Erlang starts its name server (epmd) itself and leaves it running.
const START = 'epmd & until epmd -names >/dev/null 2>&1; do :; done; exec rabbitmq-server'

export const rabbitmq: Software = {
  name: 'rabbitmq',
  kind: 'A page drawn by script; the browser stores the password and sends it with every request; after a wrong password, the browser also asks for it',
  users: [user],
  variants: [
    right(fill('username', 'password')),
    wrongPassword('Login failed', fill('username', 'password')),
  ],
  async install(directory) {
    const root = await unpackFromDebian(directory, PACKAGES)
    const erl = join(root, 'usr/lib/erlang/bin/erl')
    const script = await readFile(erl, 'utf8')
    await writeFile(erl, script.replaceAll('=/usr/lib/erlang', `=${root}/usr/lib/erlang`))
    const at = (name: string) => join(directory, name)
    await writeFile(at('definitions.json'), JSON.stringify(definitions()))
    await writeFile(at('enabled_plugins'), '[rabbitmq_management].')
    return {
      async start(owner) {
        const port = await freePort()
        const url = `http://127.0.0.1:${port}/`
        const settings = [
          `listeners.tcp.1 = 127.0.0.1:${await freePort()}`,
          'management.tcp.ip = 127.0.0.1',
          `management.tcp.port = ${port}`,
          `management.load_definitions = ${at('definitions.json')}`,
        ]
        await writeFile(at('rabbitmq.conf'), settings.join('\n'))
        const env = {
          ...librariesOf(root),
          PATH: `${root}/usr/lib/rabbitmq/bin:${root}/usr/bin:${process.env['PATH']}`,
          HOME: directory,
          RABBITMQ_CONF_ENV_FILE: '/dev/null',
          RABBITMQ_CONFIG_FILE: at('rabbitmq.conf'),
          RABBITMQ_ADVANCED_CONFIG_FILE: at('advanced.config'),
          RABBITMQ_ENABLED_PLUGINS_FILE: at('enabled_plugins'),
          RABBITMQ_MNESIA_BASE: at('mnesia'),
          RABBITMQ_LOG_BASE: at('log'),
          RABBITMQ_LOGS: '-',
          RABBITMQ_NODENAME: 'harbour@localhost',
          RABBITMQ_DIST_PORT: String(await freePort()),
          RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1}',
          ERL_EPMD_PORT: String(await freePort()),
          ERL_EPMD_ADDRESS: '127.0.0.1',
        }
        await serve(owner, { command: 'sh', args: ['-c', START], cwd: directory, env }, url)
        return {
          url,
          async isSignedIn({ cookies }) {
            const headers = { authorization: `Basic ${keptCredentials(cookies)}` }
            return (await fetch(`${url}api/whoami`, { headers })).ok
          },
        }
      },
    }
  },
  async walk(tab, person) {
    // When RabbitMQ refuses a request, the browser asks for a password, and the page waits for the answer.
    const browser = await tab.context().newCDPSession(tab)
    browser.on('Fetch.requestPaused', ({ requestId }) => {
      // The page may be closed already.
      browser.send('Fetch.continueRequest', { requestId }).catch(() => {})
    })
    browser.on('Fetch.authRequired', ({ requestId }) => {
      const authChallengeResponse = { response: 'CancelAuth' } as const
      void browser.send('Fetch.continueWithAuth', { requestId, authChallengeResponse })
    })
    await browser.send('Fetch.enable', { handleAuthRequests: true })
    await tab.fill('[name=username]', person.value('username'))
    await tab.fill('[name=password]', person.value('password'))
    await tab.click('[type=submit]')
  },
}

/** The page stores its values under short hashes of their names; 2258 is the hash of `auth`. */
function keptCredentials(cookies: string): string {
  const kept = /(?:^|; )m=(?:[^;]*\|)?2258:([^;|]*)/.exec(cookies)?.[1] ?? ''
  return decodeURIComponent(decodeURIComponent(kept))
}

function definitions(): object {
  const salt = randomBytes(4)
  const hash = createHash('sha256').update(salt).update(user.password).digest()
  const password_hash = Buffer.concat([salt, hash]).toString('base64')
  const hashing_algorithm = 'rabbit_password_hashing_sha256'
  return {
    users: [{ name: user.username, password_hash, hashing_algorithm, tags: 'administrator' }],
    vhosts: [{ name: '/' }],
    permissions: [{ user: user.username, vhost: '/', configure: '.*', write: '.*', read: '.*' }],
  }
}
