import { integer } from '../parsers/basic.ts'
import { registryUrl } from '../parsers/urls.ts'
import { setting } from './setting.ts'

export const appSettings = {
  BERTH_NPM_REGISTRY: setting({
    default: '',
    shownDefault: 'the one that npm of this machine uses',
    parse: (value) => (value ? registryUrl(value) : undefined),
    help: 'npm registry for the packages of apps. Builds may reach it wherever it is.',
  }),
  BERTH_PYTHON_INDEX: setting({
    default: 'https://pypi.org/simple/',
    parse: registryUrl,
    help: 'Python package index for the packages of apps. Builds may reach it wherever it is.',
  }),
  BERTH_APP_MEMORY_MB: setting({
    default: '2048',
    unit: 'MB',
    parse: integer(256, 1_000_000),
    help: 'Memory of an app instance, including its files and all invocations in it.',
  }),
  BERTH_APP_INVOCATION_MEMORY_MB: setting({
    default: '512',
    unit: 'MB',
    parse: integer(64, 1_000_000),
    help: 'Memory of one invocation.',
  }),
  BERTH_APP_INVOCATIONS_PER_INSTANCE: setting({
    default: '16',
    unit: 'invocations',
    parse: integer(1, 1000),
    help: 'How many invocations of a deployment share an instance; each has its own process.',
  }),
  BERTH_APP_DISK_MB: setting({
    default: '1024',
    unit: 'MB',
    parse: integer(16, 1_000_000),
    help: 'Maximum size of the files of an app, packages included. They are kept in memory.',
  }),
  BERTH_APP_SOURCE_MB: setting({
    default: '256',
    unit: 'MB',
    parse: integer(1, 1_000_000),
    help: 'Maximum size of an uploaded archive.',
  }),
  BERTH_APP_IDLE_SECONDS: setting({
    default: '600',
    unit: 'seconds',
    parse: integer(1, 1_000_000),
    help: 'How long an instance without invocations is kept, frozen, for the next one.',
  }),
  BERTH_APP_LOG_RETENTION_DAYS: setting({
    default: '7',
    unit: 'days',
    parse: integer(1, 36500),
    help: 'How long the logs of apps are kept.',
  }),
  BERTH_INVOCATION_RETENTION_DAYS: setting({
    default: '30',
    unit: 'days',
    parse: integer(1, 36500),
    help: 'How long invocations are kept after they ended, with payload and output.',
  }),
}
