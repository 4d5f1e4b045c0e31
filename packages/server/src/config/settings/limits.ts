import { integer } from '../parsers/basic.ts'
import { setting } from './setting.ts'

export const limitSettings = {
  BERTH_RATE_LIMIT_PER_MINUTE: setting({
    default: '12000',
    unit: 'requests',
    parse: integer(0, 10_000_000),
    help: 'Requests the organisation may make in a minute, counted by each server; 0 for no limit.',
  }),
  BERTH_MAX_CONCURRENT_SESSIONS: setting({
    default: '100',
    unit: 'sessions',
    parse: integer(1, 1_000_000),
    help: 'Maximum number of browser sessions at once.',
  }),
  BERTH_MAX_CONCURRENT_INVOCATIONS: setting({
    default: '100',
    unit: 'invocations',
    parse: integer(1, 1_000_000),
    help: 'Maximum number of app invocations at once.',
  }),
  BERTH_MAX_POOLED_SESSIONS: setting({
    default: '100',
    unit: 'sessions',
    parse: integer(1, 1_000_000),
    help: 'Maximum number of pooled sessions at once.',
  }),
}
