import { integer } from '../parsers/basic.ts'
import { setting } from './setting.ts'

export const limitSettings = {
  BERTH_RATE_LIMIT_PER_MINUTE: setting({
    default: '12000',
    unit: 'requests',
    parse: integer(0, 10_000_000),
    help: 'Requests that each project may make in a minute, counted by each server; 0 for no limit. Requests without a project have a share of their own.',
  }),
  BERTH_MAX_REQUESTS_AT_ONCE: setting({
    default: '2000',
    unit: 'requests',
    parse: integer(1, 1_000_000),
    help: 'How many requests of each project may run at once on each server, those that wait or stream included.',
  }),
  BERTH_MAX_CALLS_AT_ONCE: setting({
    default: '512',
    unit: 'calls',
    parse: integer(1, 1_000_000),
    help: 'How many of them may be calls into sessions: files, processes, screenshots, Playwright, curl.',
  }),
  BERTH_MAX_WAITING_STARTS: setting({
    default: '200',
    unit: 'starts',
    parse: integer(1, 1_000_000),
    help: 'How many starts of instances may wait for each project, on each server. Projects that wait take turns.',
  }),
  BERTH_MAX_CONCURRENT_SESSIONS: setting({
    default: '100',
    unit: 'sessions',
    parse: integer(1, 1_000_000),
    help: 'Maximum number of browser sessions at once.',
  }),
  BERTH_HOST_MAX_SESSIONS: setting({
    default: '0',
    unit: 'sessions',
    parse: integer(0, 1_000_000),
    help: 'How many of them this server runs at most; 0 for as many as the memory of its host holds. Servers of the same region with room start the others.',
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
