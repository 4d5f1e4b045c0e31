// Flags that several nouns share, under the names that other command lines use.
import type { FlagRow } from '../command/rows.ts'

/** Of sessions and pools. */
export const shapeFlags: readonly FlagRow[] = [
  { flags: '-s, --stealth', field: 'stealth' },
  { flags: '--no-stealth', field: 'stealth', isHidden: true },
  { flags: '-H, --headless', field: 'headless' },
  { flags: '--no-headless', field: 'headless', isHidden: true },
  { flags: '--kiosk', field: 'kiosk_mode' },
  { flags: '--no-kiosk', field: 'kiosk_mode', isHidden: true },
  { flags: '-t, --timeout <seconds>', field: 'timeout_seconds' },
  {
    flags: '--viewport <WxH@Hz>',
    field: 'viewport',
    as: 'viewport',
    help: 'Size of the page, such as 1280x800',
  },
  {
    flags: '--extension <id-or-name>',
    field: 'extensions',
    as: 'extension',
    help: 'An extension to load; repeat it for more',
  },
  {
    flags: '--private-host <pattern>',
    field: 'network.private_hosts',
    as: 'strings',
    help: 'A private host that is reached without the proxy; repeat it for more',
  },
  {
    flags: '--chrome-policy <json>',
    field: 'chrome_policy',
    as: 'json',
    help: 'Chromium policies as JSON, or @FILE',
  },
  {
    flags: '--chrome-policy-file <file>',
    field: 'chrome_policy',
    as: 'json-file',
    help: 'Chromium policies from a JSON file',
  },
]

export const telemetryFlag: FlagRow = {
  flags: '--telemetry <what>',
  field: 'telemetry',
  as: 'telemetry',
  help: 'all, off, or categories like console,network',
}

export const exportFlag: FlagRow = {
  flags: '--telemetry-export-otlp <id-or-name>',
  field: 'telemetry.export.otlp.destination',
  as: 'reference',
  help: 'Export telemetry to this destination',
}

export const profileFlags: readonly FlagRow[] = [
  { flags: '--save-changes', field: 'profile.save_changes' },
  { flags: '--no-save-changes', field: 'profile.save_changes', isHidden: true },
]

export const tagFlag: FlagRow = {
  flags: '--tag <name=value>',
  field: 'tags',
  as: 'map',
  help: 'A tag; repeat it for more',
}
