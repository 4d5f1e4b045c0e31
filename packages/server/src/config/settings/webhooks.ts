import { integer } from '../parsers/basic.ts'
import { egressAllow } from '../parsers/networks.ts'
import { setting } from './setting.ts'

export const webhookSettings = {
  BERTH_WEBHOOK_ALLOW: setting({
    default: '',
    parse: egressAllow,
    help: 'Comma list of private CIDRs or host:port where webhooks may lead to, also over http, e.g. receiver.internal:8080. Public addresses need no entry.',
  }),
  BERTH_WEBHOOK_MAX_DELIVERIES: setting({
    default: '100000',
    parse: integer(100, 10_000_000),
    help: 'How many deliveries a webhook keeps. The oldest finished ones go first; then the oldest that wait are not sent, which the webhook counts.',
  }),
  BERTH_WEBHOOK_RETENTION_DAYS: setting({
    default: '7',
    unit: 'days',
    parse: integer(1, 3650),
    help: 'How long deliveries of webhooks are kept after they were accepted or given up.',
  }),
}
