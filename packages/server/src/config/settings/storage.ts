import { resolve } from 'node:path'
import { integer } from '../parsers/basic.ts'
import { masterKeys } from '../parsers/keys.ts'
import { databaseUrl } from '../parsers/urls.ts'
import { setting } from './setting.ts'

export const storageSettings = {
  BERTH_DATA_DIR: setting({
    default: '.berth',
    parse: (value) => resolve(value),
    help: 'Directory for the database, blobs, keys and the first API key (file api-key).',
  }),
  DATABASE_URL: setting({
    default: '',
    shownDefault: 'an embedded server in the data directory',
    parse: databaseUrl,
    help: 'Your own PostgreSQL (14 or newer), postgres://user:password@host/database.',
  }),
  BERTH_DATABASE_POOL: setting({
    default: '10',
    unit: 'connections',
    parse: integer(2, 200),
    help: 'Maximum number of database connections of this server.',
  }),
  BERTH_PROJECT_STORAGE_MB: setting({
    default: '51200',
    unit: 'MB',
    parse: integer(0, 1_000_000_000),
    help: 'How much each project may store: profiles, recordings, telemetry, extensions and apps together; 0 for no limit. Recordings may take half of it, telemetry a quarter.',
  }),
  BERTH_MASTER_KEY: setting({
    default: '',
    shownDefault: 'made in the data directory',
    parse: masterKeys,
    help: 'Key that encrypts stored secrets: 32 bytes in base64. A comma list while rotating, the newest first.',
  }),
  BERTH_AUDIT_RETENTION_DAYS: setting({
    default: '365',
    unit: 'days',
    parse: integer(1, 36500),
    help: 'How long the audit log is kept.',
  }),
}
