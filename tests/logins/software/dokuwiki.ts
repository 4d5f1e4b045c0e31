// https://www.dokuwiki.org, as Debian packages it, with PHP's own web server.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newUser } from '../../fixtures/login-zoo/kit/site.ts'
import { fill, right, wrongPassword } from '../../fixtures/login-zoo/kit/variants.ts'
import { unpackFromDebian } from '../packages.ts'
import { freePort } from '../../fixtures/free-port.ts'
import { run, serve } from '../processes.ts'
import type { Software } from '../software.ts'

const user = newUser('dokuwiki')

const PACKAGES = [
  'dokuwiki',
  'php8.2-cli',
  'php8.2-common',
  'php8.2-xml',
  'php-geshi',
  'libphp-simplepie',
  'php-phpseclib',
  'php-random-compat',
  'libjs-jquery',
  'libjs-jquery-cookie',
  'libjs-jquery-ui',
]
/** Paths in the package that are only right once it is installed. */
const PLACES = /(?<=['"])\/(?=usr\/share\/|etc\/dokuwiki|var\/lib\/dokuwiki)/g

export const dokuwiki: Software = {
  name: 'dokuwiki',
  kind: 'A public wiki with a link to its login form',
  users: [user],
  variants: [
    right(fill('username', 'password')),
    wrongPassword('Sorry, username or password was wrong', fill('username', 'password')),
  ],
  async install(directory) {
    const root = await unpackFromDebian(directory, PACKAGES)
    const search = [
      '-rlE',
      '/(usr/share|etc/dokuwiki|var/lib/dokuwiki)',
      '--include=*.php',
      'usr/share/dokuwiki',
      'etc/dokuwiki',
    ]
    const found = await run({ command: 'grep', args: search, cwd: root })
    for (const file of found.trim().split('\n')) {
      const path = join(root, file)
      await writeFile(path, (await readFile(path, 'utf8')).replace(PLACES, `${root}/`))
    }
    const extensions = (await run({ command: 'ls', args: ['usr/lib/php'], cwd: root })).match(/^\d{8}$/m)![0]
    const wanted = ['xml', 'dom', 'simplexml', 'ctype', 'iconv', 'fileinfo', 'tokenizer']
    const sessions = join(directory, 'sessions')
    await mkdir(sessions)
    const ini = [
      `extension_dir=${root}/usr/lib/php/${extensions}`,
      ...wanted.map((name) => `extension=${name}`),
      `session.save_path=${sessions}`,
      'error_reporting=0',
    ]
    await writeFile(join(directory, 'php.ini'), ini.join('\n'))
    const php = (args: readonly string[]) => ({
      command: join(root, 'usr/bin/php8.2'),
      args: ['-c', join(directory, 'php.ini'), ...args],
      cwd: join(root, 'usr/share/dokuwiki'),
      env: { PHP_INI_SCAN_DIR: '' },
    })
    const hash = await run(php(['-r', 'echo password_hash($argv[1], PASSWORD_BCRYPT);', '--', user.password]))
    const settings = join(root, 'etc/dokuwiki')
    for (const name of ['users.auth.php', 'acl.auth.php']) await rm(join(settings, name), { force: true })
    await writeFile(
      join(settings, 'users.auth.php'),
      `${user.username}:${hash}:${user.name}:${user.email}:user\n`,
    )
    await writeFile(join(settings, 'acl.auth.php'), '*\t@ALL\t1\n*\t@user\t8\n')
    await writeFile(
      join(settings, 'local.php'),
      `<?php
$conf['title'] = 'Harbour wiki';
$conf['useacl'] = 1;
$conf['authtype'] = 'authplain';
$conf['disableactions'] = 'register';
$conf['updatecheck'] = 0;
$conf['savedir'] = '${root}/var/lib/dokuwiki/data';
`,
    )
    return {
      async start(owner) {
        const port = await freePort()
        const url = `http://127.0.0.1:${port}/`
        await serve(owner, php(['-S', `127.0.0.1:${port}`]), url)
        return {
          url,
          async isSignedIn({ cookies }) {
            const answer = await fetch(`${url}doku.php?do=profile`, { headers: { cookie: cookies } })
            // Only signed-in users get the form with their own name.
            return (await answer.text()).includes('name="fullname"')
          },
          async signOut() {
            // Without a session, a second cookie still identifies the user. It is encrypted with this salt.
            await rm(join(root, 'var/lib/dokuwiki/data/meta/_htcookiesalt2'), { force: true })
            await rm(sessions, { recursive: true })
            await mkdir(sessions)
          },
        }
      },
    }
  },
  async walk(tab, person) {
    await tab.click('a.login, a[href*="do=login"]')
    await tab.fill('[name=u]', person.value('username'))
    await tab.fill('[name=p]', person.value('password'))
    await tab.click('#dw__login button[type=submit]')
  },
}
