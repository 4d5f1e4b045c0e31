// https://www.qbittorrent.org, as Debian packages it without a desktop.
import { pbkdf2Sync, randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newUser } from '../../fixtures/login-zoo/kit/site.ts'
import { fill, right, wrongPassword } from '../../fixtures/login-zoo/kit/variants.ts'
import { librariesOf, unpackFromDebian } from '../packages.ts'
import { freePort } from '../../fixtures/free-port.ts'
import { serve } from '../processes.ts'
import type { Software } from '../software.ts'

const user = newUser('qbittorrent')

const PACKAGES = [
  'qbittorrent-nox',
  'libtorrent-rasterbar2.0',
  'libqt5core5a',
  'libqt5dbus5',
  'libqt5network5',
  'libqt5sql5',
  'libqt5sql5-sqlite',
  'libqt5xml5',
  'libpcre2-16-0',
]

export const qbittorrent: Software = {
  name: 'qbittorrent',
  kind: 'A form that is sent by script; the application after it has the same address',
  users: [user],
  variants: [
    right(fill('username', 'password')),
    wrongPassword('Invalid Username or Password', fill('username', 'password')),
  ],
  async install(directory) {
    const root = await unpackFromDebian(directory, PACKAGES)
    const salt = randomBytes(16)
    const hash = pbkdf2Sync(user.password, salt, 100_000, 64, 'sha512')
    const settings = [
      '[LegalNotice]',
      'Accepted=true',
      '[BitTorrent]',
      'Session\\Interface=lo',
      'Session\\DHTEnabled=false',
      'Session\\LSDEnabled=false',
      '[Preferences]',
      'WebUI\\Address=127.0.0.1',
      'WebUI\\LocalHostAuth=true',
      'WebUI\\UseUPnP=false',
      `WebUI\\Username=${user.username}`,
      `WebUI\\Password_PBKDF2="@ByteArray(${salt.toString('base64')}:${hash.toString('base64')})"`,
    ]
    const place = join(directory, 'profile', 'qBittorrent', 'config')
    await mkdir(place, { recursive: true })
    await writeFile(join(place, 'qBittorrent.conf'), settings.join('\n'))
    return {
      async start(owner) {
        const port = await freePort()
        const url = `http://127.0.0.1:${port}/`
        const args = [`--profile=${join(directory, 'profile')}`, `--webui-port=${port}`]
        const command = join(root, 'usr/bin/qbittorrent-nox')
        const env = { ...librariesOf(root), HOME: directory }
        await serve(owner, { command, args, cwd: directory, env }, url)
        return {
          url,
          isSignedIn: async ({ cookies }) =>
            (await fetch(`${url}api/v2/app/version`, { headers: { cookie: cookies } })).ok,
          async signOut({ cookies }) {
            await fetch(`${url}api/v2/auth/logout`, { method: 'POST', headers: { cookie: cookies } })
          },
        }
      },
    }
  },
  async walk(tab, person) {
    await tab.fill('#username', person.value('username'))
    await tab.fill('#password', person.value('password'))
    await tab.click('#login')
  },
}
