import { integer } from '../parsers/basic.ts'
import { setting } from './setting.ts'

export const loginSettings = {
  BERTH_LOGIN_SECONDS: setting({
    default: '1200',
    unit: 'seconds',
    parse: integer(1, 86_400),
    help: 'How long a login flow may take in all.',
  }),
  BERTH_LOGIN_WAIT_SECONDS: setting({
    default: '600',
    unit: 'seconds',
    parse: integer(1, 86_400),
    help: 'How long a login flow waits for a person to enter or do something.',
  }),
  BERTH_LOGIN_CHECKS_AT_ONCE: setting({
    default: '2',
    unit: 'health checks',
    parse: integer(1, 1000),
    help: 'How many health checks this server runs at once; each is a browser session.',
  }),
  BERTH_LOGIN_RETENTION_DAYS: setting({
    default: '90',
    unit: 'days',
    parse: integer(1, 36500),
    help: 'How long login flows and health checks are kept in the timeline.',
  }),
  BERTH_HEALTH_CHECK_MIN_SECONDS: setting({
    default: '300',
    unit: 'seconds',
    parse: integer(1, 86_400),
    help: 'Shortest interval between health checks that a connection may ask for.',
  }),
}
