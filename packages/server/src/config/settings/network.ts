import { integer } from '../parsers/basic.ts'
import { dnsServers, egressAllow, sessionEgressAllow } from '../parsers/networks.ts'
import { proxyProviders } from '../parsers/proxy-providers.ts'
import { requiredUrl, webUrls } from '../parsers/urls.ts'
import { setting } from './setting.ts'

export const networkSettings = {
  BERTH_EGRESS_ALLOW: setting({
    default: '',
    parse: sessionEgressAllow,
    help: 'Comma list of private CIDRs or host:port that sessions may reach, e.g. host.berth.internal:3000 for a server on this machine.',
  }),
  BERTH_TELEMETRY_EXPORT_ALLOW: setting({
    default: '',
    parse: egressAllow,
    help: 'Comma list of private CIDRs or host:port where projects may export telemetry to, e.g. collector.internal:4318. Public collectors need no entry.',
  }),
  BERTH_EGRESS_MBIT: setting({
    default: '0',
    unit: 'Mbit/s',
    parse: integer(0, 10_000_000),
    help: 'Bandwidth that sessions and apps of this server use together, in each direction; projects share it equally. 0 for no bound.',
  }),
  BERTH_EGRESS_CONNECTIONS: setting({
    default: '8192',
    unit: 'connections',
    parse: integer(16, 10_000_000),
    help: 'How many connections to the network the sessions and apps of each project may have open, on each server.',
  }),
  BERTH_DNS_SERVERS: setting({
    default: '',
    parse: dnsServers,
    help: 'Comma list of DNS servers (address or address:port) for the names that sessions ask for. Empty: those of /etc/resolv.conf.',
  }),
  BERTH_PROXY_PROVIDERS: setting({
    default: '',
    isFile: true,
    parse: proxyProviders,
    help: 'JSON file with the upstreams behind datacenter, isp, residential and mobile proxies; the format is in packages/server/src/sessions/proxies/README.md.',
  }),
  BERTH_PROXY_CHECK_URLS: setting({
    default: 'https://api.ipify.org,https://checkip.amazonaws.com',
    parse: webUrls,
    help: "Comma list of URLs that answer with the caller's address. A proxy check uses the first one that answers.",
  }),
  BERTH_CHROME_STORE_URL: setting({
    default: 'https://clients2.google.com',
    parse: requiredUrl,
    help: 'Where extensions of the Chrome Web Store are fetched from. The egress rules apply, BERTH_EGRESS_ALLOW included.',
  }),
}
