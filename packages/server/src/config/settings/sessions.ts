import { integer } from '../parsers/basic.ts'
import { setting } from './setting.ts'

export const sessionSettings = {
  BERTH_LEASE_SECONDS: setting({
    default: '20',
    unit: 'seconds',
    parse: integer(2, 3600),
    help: 'How long sessions stay alive without a server; a server that starts in this time takes them over.',
  }),
  BERTH_DEEP_STANDBY_SECONDS: setting({
    default: '60',
    unit: 'seconds',
    parse: integer(0, 1_000_000),
    help: 'How long a session is on standby before its memory is moved to swap; 0 for never. It is moved earlier when memory is short.',
  }),
  BERTH_ACQUIRE_WAIT_SECONDS: setting({
    default: '50',
    unit: 'seconds',
    parse: integer(1, 3600),
    help: 'How long a request for a pooled browser waits when it does not say so itself. Published clients give up after 60.',
  }),
  BERTH_MAX_FILE_MB: setting({
    default: '4096',
    unit: 'MB',
    parse: integer(1, 1_000_000),
    help: 'Maximum size of one upload of files.',
  }),
  BERTH_MAX_VIEWERS: setting({
    default: '20',
    unit: 'viewers',
    parse: integer(1, 10_000),
    help: 'How many people may watch one session at once in the live view, counted by each server.',
  }),
  BERTH_REPLAY_MAX_MB: setting({
    default: '500',
    unit: 'MB',
    parse: integer(1, 4000),
    help: 'Size at which a recording stops.',
  }),
  BERTH_REPLAY_RETENTION_DAYS: setting({
    default: '30',
    unit: 'days',
    parse: integer(1, 36500),
    help: 'How long recordings are kept after they ended.',
  }),
  BERTH_REPLAY_LINK_DAYS: setting({
    default: '7',
    unit: 'days',
    parse: integer(1, 365),
    help: 'How long a replay_view_url works. Reading the recording again gives a new one.',
  }),
  BERTH_TELEMETRY_RETENTION_DAYS: setting({
    default: '30',
    unit: 'days',
    parse: integer(1, 36500),
    help: 'How long telemetry events are kept.',
  }),
  BERTH_TELEMETRY_SESSION_MB: setting({
    default: '64',
    unit: 'MB',
    parse: integer(1, 1_000_000),
    help: 'Maximum size of the telemetry events of one session, compressed; the oldest are deleted first.',
  }),
  BERTH_PROFILE_MAX_MB: setting({
    default: '512',
    unit: 'MB',
    parse: integer(1, 100_000),
    help: 'Maximum size of a profile, unpacked and without caches. It counts towards the home directory of a session.',
  }),
  BERTH_PROFILE_VERSIONS: setting({
    default: '10',
    unit: 'versions',
    parse: integer(1, 1000),
    help: 'How many versions of a profile are kept, including the current one.',
  }),
}
