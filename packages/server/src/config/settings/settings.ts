// The settings table: every setting of the server, one row each, grouped as `--help` shows them.
import type { Setting } from './setting.ts'
import { appSettings } from './apps.ts'
import { auditExportSettings } from './audit-export.ts'
import { blobSettings } from './blobs.ts'
import { instanceSettings } from './instances.ts'
import { kubernetesSettings } from './kubernetes.ts'
import { limitSettings } from './limits.ts'
import { loginSettings } from './logins.ts'
import { networkSettings } from './network.ts'
import { operatorSettings } from './operator.ts'
import { serverSettings } from './server.ts'
import { sessionSettings } from './sessions.ts'
import { storageSettings } from './storage.ts'
import { webhookSettings } from './webhooks.ts'

export const settings = {
  ...serverSettings,
  ...storageSettings,
  ...blobSettings,
  ...operatorSettings,
  ...limitSettings,
  ...networkSettings,
  ...instanceSettings,
  ...kubernetesSettings,
  ...sessionSettings,
  ...appSettings,
  ...loginSettings,
  ...auditExportSettings,
  ...webhookSettings,
}

/** Those whose value is the path of a file. */
export const fileSettings: readonly string[] = Object.entries<Setting<unknown>>(settings)
  .filter(([, { isFile }]) => isFile)
  .map(([name]) => name)

interface Group {
  readonly title: string
  readonly settings: Readonly<Record<string, Setting<unknown>>>
}

export const groups: readonly Group[] = [
  { title: 'Server', settings: serverSettings },
  { title: 'Storage', settings: storageSettings },
  { title: 'Large files', settings: blobSettings },
  { title: 'First API key and its creator', settings: operatorSettings },
  { title: 'Limits of the organisation and its projects', settings: limitSettings },
  { title: 'Network of browser sessions', settings: networkSettings },
  { title: 'Instances of browser sessions', settings: instanceSettings },
  { title: 'Kubernetes', settings: kubernetesSettings },
  { title: 'Browser sessions', settings: sessionSettings },
  { title: 'Apps', settings: appSettings },
  { title: 'Auth connections', settings: loginSettings },
  { title: 'Export of the audit log', settings: auditExportSettings },
  { title: 'Webhooks', settings: webhookSettings },
]

export type SettingValues = { [K in keyof typeof settings]: ReturnType<(typeof settings)[K]['parse']> }
