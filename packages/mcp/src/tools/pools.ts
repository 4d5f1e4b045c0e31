import * as contract from '@berth/contracts/browser-pools'
import { facts } from '../core/answer.ts'
import { manyTool, type Args } from '../core/tool.ts'
import { browserSettings, extensionsOf, viewportOf } from './browsers.ts'
import { flag, text, whole } from './fields.ts'
import { done, given, pageFields, search } from './paging.ts'
import { act, lists } from './plain.ts'

const ofPool = (args: Args) => ({ id: args.id_or_name as string })
const requires = ['id_or_name']

const settingsOf = (args: Args) => {
  const { profile_name: name, profile_id: id } = args
  return given({
    name: args.name,
    size: args.size,
    fill_rate_per_minute: args.fill_rate_per_minute,
    timeout_seconds: args.timeout_seconds,
    headless: args.headless,
    stealth: args.stealth,
    kiosk_mode: args.kiosk_mode,
    start_url: args.start_url,
    chrome_policy: args.chrome_policy,
    proxy_id: args.proxy_id,
    viewport: viewportOf(args),
    profile: args.clear_profile
      ? {}
      : name === undefined && id === undefined
        ? undefined
        : given({ id, name: id === undefined ? name : undefined }),
    extensions: args.clear_extensions ? [] : extensionsOf(args),
  })
}

export const manageBrowserPools = manyTool({
  name: 'manage_browser_pools',
  title: 'Browser pools',
  toolset: 'browser_pools',
  description:
    'Pools keep browsers with the same settings ready. Acquire one, use it like any session, release it.',
  input: {
    id_or_name: text('Id or name of the pool'),
    name: text('Name of the pool; for acquire, a name for the session'),
    size: whole('How many browsers', { minimum: 1 }),
    fill_rate_per_minute: whole('How many new browsers a minute, in percent of the size', { minimum: 0 }),
    ...browserSettings,
    clear_profile: flag('For update: use no profile any more'),
    clear_extensions: flag('For update: use no extensions any more'),
    discard_all_idle: flag('For update: replace browsers that wait'),
    force: flag('For delete: also while browsers are leased'),
    acquire_timeout_seconds: whole('For acquire: how long to wait for a browser', {
      minimum: 0,
      maximum: 50,
    }),
    session_id: text('For release: the session'),
    lease_id: text('For release: the lease, from acquire'),
    reuse: flag('For release: whether somebody else may get this browser'),
    query: search,
    ...pageFields,
  },
  actions: {
    create: act({
      does: 'create a pool',
      operation: contract.createBrowserPool,
      requires: ['size'],
      input: (args) => ({ body: settingsOf(args) }),
    }),
    list: lists(contract.listBrowserPools, 'list pools', { query: ({ query }) => given({ query }) }),
    get: act({
      does: 'show one pool',
      operation: contract.getBrowserPool,
      requires,
      input: (args) => ({ params: ofPool(args) }),
    }),
    update: act({
      does: 'change a pool',
      operation: contract.updateBrowserPool,
      requires,
      input: (args) => ({
        params: ofPool(args),
        body: { ...settingsOf(args), ...given({ discard_all_idle: args.discard_all_idle }) },
      }),
    }),
    delete: act({
      does: 'delete a pool',
      operation: contract.deleteBrowserPool,
      requires,
      input: (args) => ({ params: ofPool(args), body: given({ force: args.force }) }),
      said: (args) => ({ deleted: args.id_or_name }),
    }),
    flush: act({
      does: 'replace all browsers that wait',
      operation: contract.flushBrowserPool,
      requires,
      input: (args) => ({ params: ofPool(args) }),
      said: (args) => ({ flushed: args.id_or_name }),
    }),
    acquire: {
      does: 'lease a browser',
      needs: [contract.acquireBrowser],
      requires,
      run: async (args: Args, { api }) => {
        const seconds: number = args.acquire_timeout_seconds ?? 30
        const browser = await api.call(contract.acquireBrowser, {
          params: ofPool(args),
          body: given({ acquire_timeout_seconds: seconds, name: args.name, start_url: args.start_url }),
          workSeconds: seconds + 30,
        })
        if (!browser) {
          return done({
            acquired: false,
            note: `No browser of the pool was free within ${seconds} s: try again`,
          })
        }
        return [facts(browser)]
      },
    },
    release: act({
      does: 'give a leased browser back',
      operation: contract.releaseBrowser,
      requires: ['id_or_name', 'session_id'],
      input: (args) => ({
        params: ofPool(args),
        body: given({ session_id: args.session_id, lease_id: args.lease_id, reuse: args.reuse }),
        workSeconds: 60,
      }),
      said: (args) => ({ released: args.session_id }),
    }),
  },
})
