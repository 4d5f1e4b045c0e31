import { fileContent, integer, matching, oneOf, text } from '../parsers/basic.ts'
import { hostNames, networks } from '../parsers/networks.ts'
import { origins, publicUrl } from '../parsers/urls.ts'
import { setting } from './setting.ts'

export const serverSettings = {
  BERTH_HOST: setting({
    default: '127.0.0.1',
    parse: text,
    help: 'Address to listen on. Any address but loopback needs a strong key; see BERTH_API_KEY.',
  }),
  BERTH_PORT: setting({
    default: '8080',
    parse: integer(0, 65535),
    help: 'Port to listen on; 0 takes a free one.',
  }),
  BERTH_PUBLIC_URL: setting({
    default: '',
    shownDefault: "the request's own host",
    parse: publicUrl,
    help: 'URL at which clients reach the server; session URLs are built from it.',
  }),
  BERTH_INTERNAL_URL: setting({
    default: '',
    shownDefault: 'the address it listens on',
    parse: publicUrl,
    help: 'With several servers: URL at which the others reach this one, for sessions that run here.',
  }),
  BERTH_REGION: setting({
    default: 'us-east',
    parse: matching(/^[a-z][a-z0-9-]{0,62}$/, 'a name in lower case such as us-east'),
    help: 'Name of the region of this server. Its sessions and pools have it, and it refuses to create others.',
  }),
  BERTH_TLS_CERT: setting({
    default: '',
    isFile: true,
    parse: fileContent,
    help: 'Certificate chain file (PEM) to serve HTTPS with; needs BERTH_TLS_KEY.',
  }),
  BERTH_TLS_KEY: setting({
    default: '',
    isFile: true,
    parse: fileContent,
    help: 'Private key file (PEM) of that certificate.',
  }),
  BERTH_TRUSTED_PROXIES: setting({
    default: '',
    parse: networks,
    help: 'Comma list of addresses or CIDRs of reverse proxies whose X-Forwarded headers are trusted.',
  }),
  BERTH_ALLOWED_HOSTS: setting({
    default: '',
    parse: hostNames,
    help: 'Comma list of host names to answer besides the bound address, loopback names and the public URL.',
  }),
  BERTH_ALLOWED_ORIGINS: setting({
    default: '',
    parse: origins,
    help: 'Comma list of origins, such as https://app.example, whose web pages may call every operation. The operations of a login flow take its token from any origin.',
  }),
  BERTH_LOG_LEVEL: setting({
    default: 'info',
    parse: oneOf('debug', 'info', 'warn', 'error', 'silent'),
    help: 'Least severe log line to write. Reads and refusals are logged at debug.',
  }),
  BERTH_DRAIN_SECONDS: setting({
    default: '1',
    unit: 'seconds',
    parse: integer(0, 3600),
    help: 'How long to keep serving after SIGTERM while /ready answers 503, for load balancers.',
  }),
  BERTH_SHUTDOWN_GRACE_SECONDS: setting({
    default: '20',
    unit: 'seconds',
    parse: integer(1, 3600),
    help: 'After that, how long running requests may take to finish.',
  }),
}
