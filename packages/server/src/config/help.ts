import { isInImage } from '@berth/kit/in-image'
import type { Setting } from './settings/setting.ts'
import { groups } from './settings/settings.ts'

const commands = isInImage
  ? { start: 'berth       ', help: 'berth --help' }
  : { start: 'npm start          ', help: 'npm start -- --help' }

/** What `npm start -- --help` prints. */
export function helpText(): string {
  const sections = groups.map(({ title, settings }) => {
    const rows = Object.entries<Setting<unknown>>(settings).map(([name, row]) => describe(name, row))
    return `${title}\n\n${rows.join('\n\n')}`
  })
  return `Berth: a self-hosted browser cloud

Usage: ${commands.start}  start the server
       ${commands.help}  show this text

Settings are environment variables.

${sections.join('\n\n')}
`
}

function describe(name: string, { help, shownDefault, default: value, unit }: Setting<unknown>): string {
  const shown = shownDefault ?? (value || 'none')
  return `  ${name}\n      ${help}\n      Default: ${shown}${unit === undefined ? '' : ` ${unit}`}`
}
