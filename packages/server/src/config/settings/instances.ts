import { boolean, commaList, integer, matching, versionList } from '../parsers/basic.ts'
import { swapPlace } from '../parsers/swap.ts'
import { setting } from './setting.ts'

export const instanceSettings = {
  BERTH_WARM_HEADLESS: setting({
    default: '1',
    unit: 'instances',
    parse: integer(0, 1000),
    help: 'Headless instances kept warm, with a started browser.',
  }),
  BERTH_WARM_HEADFUL: setting({
    default: '1',
    unit: 'instances',
    parse: integer(0, 1000),
    help: 'Headful instances kept warm, with a started browser.',
  }),
  BERTH_WARM_GPU: setting({
    default: '0',
    unit: 'instances',
    parse: integer(0, 1000),
    help: 'Instances with a GPU kept warm, with a started browser. They count against BERTH_GPU_MAX_SESSIONS.',
  }),
  BERTH_EMPTY_INSTANCES: setting({
    default: '1',
    unit: 'instances',
    parse: integer(0, 1000),
    help: 'Instances kept ready without a browser, for when no warm one is left.',
  }),
  BERTH_SESSION_MEMORY_MB: setting({
    default: '2048',
    unit: 'MB',
    parse: integer(256, 1_000_000),
    help: 'Memory of a headless session, its files included; a headful one has twice as much.',
  }),
  BERTH_SESSION_MAX_MEMORY_MB: setting({
    default: '16384',
    unit: 'MB',
    parse: integer(0, 1_000_000),
    help: 'The most that a caller may ask for with memory (8GiB or 16GiB). Below 8192, nobody may ask.',
  }),
  BERTH_SESSION_DISK_MB: setting({
    default: '1024',
    unit: 'MB',
    parse: integer(64, 1_000_000),
    help: 'Size of the home directory of a session. It is kept in memory.',
  }),
  BERTH_SESSION_CPUS: setting({
    default: '2',
    unit: 'processors',
    parse: integer(1, 1000),
    help: 'Processors one session may use.',
  }),
  BERTH_SESSION_PROCESSES: setting({
    default: '1024',
    unit: 'processes and threads',
    parse: integer(64, 1_000_000),
    help: 'Processes and threads one session may have.',
  }),
  BERTH_DEEP_STANDBY_SWAP: setting({
    default: 'auto',
    parse: swapPlace,
    help: 'Where the memory of sessions in deep standby goes: auto for zram or else file, zram, file for an encrypted swap file, off, or a comma list of all swap devices of the machine, which allows them.',
  }),
  BERTH_DEEP_STANDBY_SWAP_MB: setting({
    default: '0',
    shownDefault: 'half of the memory of the machine',
    unit: 'MB',
    parse: integer(0, 100_000_000),
    help: 'Memory that zram may take, or size of the swap file.',
  }),
  BERTH_GPU: setting({
    default: 'auto',
    parse: matching(
      /^(off|auto|\/dev\/(nvidia\d+|dri\/renderD\d+))$/,
      'off, auto, or a device such as /dev/nvidia0',
    ),
    help: 'GPU of sessions that ask for one: auto takes every GPU that renders, a device only that one.',
  }),
  BERTH_GPU_MAX_SESSIONS: setting({
    default: '8',
    unit: 'sessions',
    parse: integer(1, 1000),
    help: 'Sessions that share one GPU. Its memory is not divided between them.',
  }),
  BERTH_INSTANCE_UID_BASE: setting({
    default: '1879048192',
    parse: integer(65_536, 4_294_000_000),
    help: 'First of the 262144 user ids of the host that sessions may have. Nobody else should use them.',
  }),
  BERTH_INSTANCE_PACKAGES: setting({
    default: '',
    parse: commaList,
    help: 'Further Debian packages of this machine that sessions see. The set-up reads it.',
  }),
  BERTH_PLAYWRIGHT_VERSIONS: setting({
    default: '',
    parse: versionList,
    help: 'Further versions of Playwright whose chromium.connect() sessions serve, from 1.61 on, such as 1.64. The set-up reads it.',
  }),
  BERTH_ALLOW_WEAK_ISOLATION: setting({
    default: 'false',
    parse: boolean,
    help: 'Run instances even where a layer of isolation is missing.',
  }),
}
