// https://www.mediawiki.org, as Debian packages it, with SQLite and PHP's own web server.
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newUser } from '../../fixtures/login-zoo/kit/site.ts'
import { fill, right, wrongPassword } from '../../fixtures/login-zoo/kit/variants.ts'
import { librariesOf, unpackFromDebian } from '../packages.ts'
import { freePort } from '../../fixtures/free-port.ts'
import { run, serve } from '../processes.ts'
import type { Software } from '../software.ts'

const user = newUser('mediawiki')

const PACKAGES = [
  'mediawiki',
  'mediawiki-classes',
  'php8.2-cli',
  'php8.2-common',
  'php8.2-intl',
  'php8.2-mbstring',
  'php8.2-sqlite3',
  'php8.2-xml',
  'libicu72',
  'libonig5',
]
const EXTENSIONS = [
  'calendar',
  'ctype',
  'dom',
  'fileinfo',
  'iconv',
  'intl',
  'mbstring',
  'pdo',
  'pdo_sqlite',
  'sqlite3',
  'tokenizer',
  'xml',
  'simplexml',
  'xmlreader',
]

export const mediawiki: Software = {
  name: 'mediawiki',
  kind: 'A public wiki with a search field, and a link to create an account next to the link to log in',
  users: [user],
  variants: [
    right(fill('username', 'password')),
    wrongPassword('Incorrect username or password entered', fill('username', 'password')),
  ],
  async install(directory) {
    const root = await unpackFromDebian(directory, PACKAGES)
    const extensions = (await run({ command: 'ls', args: ['usr/lib/php'], cwd: root })).match(/^\d{8}$/m)![0]
    const sessions = join(directory, 'sessions')
    await mkdir(sessions)
    const ini = [
      `extension_dir=${root}/usr/lib/php/${extensions}`,
      ...EXTENSIONS.map((name) => `extension=${name}`),
      `session.save_path=${sessions}`,
      'error_reporting=0',
    ]
    await writeFile(join(directory, 'php.ini'), ini.join('\n'))
    const cwd = join(root, 'usr/share/mediawiki')
    const php = (...args: readonly string[]) => ({
      command: join(root, 'usr/bin/php8.2'),
      args: ['-c', join(directory, 'php.ini'), ...args],
      cwd,
      // With one worker, a request that needs a second request would wait forever.
      env: { ...librariesOf(root), PHP_INI_SCAN_DIR: '', PHP_CLI_SERVER_WORKERS: '4' },
    })
    // This is a link to the configuration of an installed package, which does not exist here.
    await rm(join(cwd, 'LocalSettings.php'))
    const options = [
      ['--dbtype', 'sqlite'],
      ['--dbname', 'wiki'],
      ['--dbpath', join(directory, 'data')],
      ['--server', 'http://127.0.0.1'],
      ['--scriptpath', ''],
      ['--pass', user.password],
    ].flat()
    await run(php('maintenance/install.php', ...options, 'Harbour wiki', user.username))
    const more = [
      "if (isset($_SERVER['HTTP_HOST'])) $wgServer = 'http://' . $_SERVER['HTTP_HOST'];",
      // Otherwise MediaWiki sends a request to itself to run its jobs.
      '$wgJobRunRate = 0;',
    ]
    await appendFile(join(cwd, 'LocalSettings.php'), `\n${more.join('\n')}\n`)
    return {
      async start(owner) {
        const port = await freePort()
        const url = `http://127.0.0.1:${port}/`
        await serve(owner, php('-S', `127.0.0.1:${port}`), url)
        return {
          url,
          async isSignedIn({ cookies }) {
            const path = 'api.php?action=query&meta=userinfo&format=json'
            const answer = await fetch(`${url}${path}`, { headers: { cookie: cookies } })
            const { query } = (await answer.json()) as { query: { userinfo: { id: number } } }
            return query.userinfo.id !== 0
          },
          async signOut() {
            await run(php('maintenance/invalidateUserSessions.php', '--user', user.username))
          },
        }
      },
    }
  },
  async walk(tab, person) {
    await tab.click('#pt-login a, #pt-login-2 a')
    await tab.fill('#wpName1', person.value('username'))
    await tab.fill('#wpPassword1', person.value('password'))
    await tab.click('#wpLoginAttempt')
  },
}
