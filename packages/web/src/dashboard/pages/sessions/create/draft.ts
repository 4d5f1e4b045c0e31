// What somebody has filled in. Texts stay as they were typed until they are sent.
import type { Category } from '@berth/contracts/telemetry-events'

export interface Draft {
  readonly name: string
  /** One `name=value` per line. */
  readonly tags: string
  readonly startUrl: string
  readonly headless: boolean
  readonly stealth: boolean
  readonly kioskMode: boolean
  readonly gpu: boolean
  readonly timeoutSeconds: string
  readonly standbyAfterSeconds: string
  readonly width: string
  readonly height: string
  readonly refreshRate: string
  readonly locale: string
  readonly timezone: string
  readonly record: boolean
  readonly framerate: string
  readonly maxDuration: string
  readonly telemetry: 'default' | 'on' | 'off'
  readonly categories: readonly Category[]
  readonly profile: string
  readonly saveChanges: boolean
  readonly keepsOther: boolean
  readonly extensions: readonly string[]
  /** Empty, `mode:direct`, `mode:default`, or `id:` and the id of a proxy. */
  readonly proxy: string
  readonly hasPrivateHosts: boolean
  readonly privateHosts: string
  readonly region: string
  readonly memory: string
  readonly chromePolicy: string
}

export const emptyDraft: Draft = {
  name: '',
  tags: '',
  startUrl: '',
  headless: false,
  stealth: false,
  kioskMode: false,
  gpu: false,
  timeoutSeconds: '',
  standbyAfterSeconds: '',
  width: '',
  height: '',
  refreshRate: '',
  locale: '',
  timezone: '',
  record: false,
  framerate: '',
  maxDuration: '',
  telemetry: 'default',
  categories: ['console', 'page', 'interaction', 'network', 'control', 'connection', 'system', 'captcha'],
  profile: '',
  saveChanges: false,
  keepsOther: false,
  extensions: [],
  proxy: '',
  hasPrivateHosts: false,
  privateHosts: '',
  region: '',
  memory: '',
  chromePolicy: '',
}

export interface FormProps {
  readonly draft: Draft
  readonly set: (change: Partial<Draft>) => void
  /** A pool has fewer options than a session. */
  readonly isPool?: boolean
}
