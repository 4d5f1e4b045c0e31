// Says when Chromium is old. A browser that runs strangers' pages needs the fixes of the last weeks.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Logger } from 'pino'
import { isInImage } from '@berth/kit/in-image'

const MAX_AGE_DAYS = 14
const DAY_MS = 86_400_000
/** Asking the package manager takes a third of a second of processor time, which a start and the first sessions should not wait for. */
const FIRST_LOOK_MS = 60_000
const COMMAND_TIMEOUT_MS = 30_000
const CHANGELOG = '/usr/share/doc/chromium/changelog.Debian.gz'
const REMEDY = isInImage ? 'use a newer image' : 'run npm run update-browser'

const run = promisify(execFile)

export interface BrowserAge {
  readonly installed: string
  /** What the package lists of this machine offer. */
  readonly offered: string | undefined
  readonly releasedAt: Date | undefined
}

/** Looks soon after the start and then every day, without keeping the process alive. */
export function watchBrowserAge(log: Logger): void {
  const look = async () => {
    const age = await readBrowserAge()
    for (const warning of age ? warningsAbout(age, new Date()) : []) log.warn(age, warning)
  }
  setTimeout(() => void look(), FIRST_LOOK_MS).unref()
  setInterval(() => void look(), DAY_MS).unref()
}

export function warningsAbout({ installed, offered, releasedAt }: BrowserAge, now: Date): string[] {
  const warnings: string[] = []
  if (offered !== undefined && offered !== installed)
    warnings.push(`Chromium is ${installed}, but Debian offers ${offered}: ${REMEDY}`)
  const days = releasedAt === undefined ? 0 : Math.floor((now.getTime() - releasedAt.getTime()) / DAY_MS)
  if (days > MAX_AGE_DAYS) warnings.push(`Chromium ${installed} was released ${days} days ago: ${REMEDY}`)
  return warnings
}

/** Undefined where Chromium is not a package of Debian. */
export async function readBrowserAge(): Promise<BrowserAge | undefined> {
  const [installed, policy, releasedAt] = await Promise.all([
    answerOf('dpkg-query', ['--show', '--showformat=${Version}', 'chromium']),
    answerOf('apt-cache', ['policy', 'chromium']),
    releaseDate(),
  ])
  if (!installed) return undefined
  return { installed, offered: candidateIn(policy), releasedAt }
}

export function candidateIn(policy: string): string | undefined {
  const [, version] = /^\s*Candidate: (\S+)$/m.exec(policy) ?? []
  return version === '(none)' ? undefined : version
}

/** The date of the newest entry: ` -- Name <address>  Mon, 02 Nov 2026 10:00:00 +0000`. */
export function newestDateIn(changelog: string): Date | undefined {
  const [, text] = /^ -- .*> {2}(.+)$/m.exec(changelog) ?? []
  const date = new Date(text ?? '')
  return Number.isNaN(date.getTime()) ? undefined : date
}

async function releaseDate(): Promise<Date | undefined> {
  try {
    return newestDateIn((await promisify(gunzip)(await readFile(CHANGELOG))).toString())
  } catch {
    // Slim systems leave out documentation.
    return undefined
  }
}

async function answerOf(program: string, args: readonly string[]): Promise<string> {
  try {
    const env = { ...commandEnvironment, LC_ALL: 'C' }
    return (await run(program, args, { timeout: COMMAND_TIMEOUT_MS, env })).stdout
  } catch {
    return ''
  }
}

/** The server's own variables, which may be secrets, are not for these programs. */
const commandEnvironment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }
