// Proxies for the traffic of sessions.
import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { Nullable, OneOf, Open, pageQuery, resourceId, Text, Timestamp } from './schema.ts'

const tag = 'Proxies'

export const managedProxyTypes = ['datacenter', 'isp', 'residential', 'mobile'] as const
/** Types whose upstream proxy the operator configures. */
export type ManagedProxyType = (typeof managedProxyTypes)[number]
const proxyTypes = [...managedProxyTypes, 'custom'] as const
export type ProxyType = (typeof proxyTypes)[number]

export const proxyProtocols = ['http', 'https', 'socks5'] as const
export type ProxyProtocol = (typeof proxyProtocols)[number]

const proxyStatuses = ['available', 'unavailable'] as const
export type ProxyStatus = (typeof proxyStatuses)[number]

const operatingSystems = ['windows', 'macos', 'android'] as const
/** Values from the oldest published client. */
const carriers = [
  'a1', 'aircel', 'airtel', 'att', 'celcom', 'chinamobile', 'claro', 'comcast', 'cox', 'digi', 'dt', 'docomo', 'dtac',
  'etisalat', 'idea', 'kyivstar', 'meo', 'megafon', 'mtn', 'mtnza', 'mts', 'optus', 'orange', 'qwest', 'reliance_jio',
  'robi', 'sprint', 'telefonica', 'telstra', 'tmobile', 'tigo', 'tim', 'verizon', 'vimpelcom', 'vodacomza', 'vodafone',
  'vivo', 'zain', 'vivabo', 'telenormyanmar', 'kcelljsc', 'swisscom', 'singtel', 'asiacell', 'windit', 'cellc',
  'ooredoo', 'drei', 'umobile', 'cableone', 'proximus', 'tele2', 'mobitel', 'o2', 'bouygues', 'free', 'sfr', 'digicel',
] as const // prettier-ignore

const MAX_BYPASS_HOSTS = 100
const MAX_HOST_LENGTH = 253

const customFields = {
  host: Type.Optional(
    Text({ description: 'Host name or IP address; `custom` only', minLength: 1, maxLength: 255 }),
  ),
  port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, description: 'Port; `custom` only' })),
  username: Type.Optional(
    Text({ description: 'User name for authentication; `custom` only', minLength: 1, maxLength: 255 }),
  ),
}

/** Fields that select the exit of a managed proxy. */
const exitFields = {
  country: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z]{2}$',
      description: 'ISO 3166 country code; not for `custom`. Defaults to US for `datacenter` and `isp`',
    }),
  ),
  state: Type.Optional(
    Type.String({ pattern: '^[A-Za-z]{2}$', description: 'US state; `residential` and `mobile` only' }),
  ),
  city: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z]{1,100}$',
      description:
        'City without spaces, such as `sanfrancisco`; requires `country`. `residential` and `mobile` only',
    }),
  ),
  zip: Type.Optional(
    Type.String({
      pattern: '^[0-9]{5}$',
      description: 'US ZIP code; cannot be combined with city or state. `residential` and `mobile` only',
    }),
  ),
  asn: Type.Optional(
    Type.String({
      pattern: '^([Aa][Ss])?[0-9]{1,10}$',
      description:
        'Autonomous system number; cannot be combined with city or state. `residential` and `mobile` only',
    }),
  ),
  os: Type.Optional(
    OneOf(operatingSystems, { description: 'Deprecated: operating system; `residential` only' }),
  ),
  carrier: Type.Optional(OneOf(carriers, { description: 'Mobile carrier, for old clients; `mobile` only' })),
}
export type ExitField = keyof typeof exitFields
export const exitFieldNames = Object.keys(exitFields) as ExitField[]

const CreateProxyConfig = Open(
  {
    ...customFields,
    password: Type.Optional(
      Text({
        description: 'Password; stored encrypted and never shown; `custom` only',
        minLength: 5,
        maxLength: 1024,
      }),
    ),
    ca_bundle: Type.Optional(
      Type.String({
        pattern: '^[\\x20-\\x7e\\r\\n\\t]*$',
        minLength: 1,
        maxLength: 65_536,
        description:
          'Additional certificate authorities (PEM) to trust: for the certificate of an https proxy, and, in sessions that ' +
          'are created with the proxy, for those of websites, as a proxy needs that decrypts TLS. Stored encrypted and never ' +
          'shown; `custom` only',
      }),
    ),
    ...exitFields,
  },
  { description: 'Settings for the type: `custom` needs host and port; the other types select an exit' },
)
export type CreateProxyConfig = Static<typeof CreateProxyConfig>

const ProxyConfig = Type.Object(
  {
    ...customFields,
    has_password: Type.Optional(Type.Boolean({ description: 'Whether a password is set; `custom` only' })),
    has_ca_bundle: Type.Optional(
      Type.Boolean({ description: 'Whether additional certificate authorities are set; `custom` only' }),
    ),
    ...exitFields,
  },
  { title: 'ProxyConfig', description: 'Settings for the type' },
)
export type ProxyConfig = Static<typeof ProxyConfig>

const type = OneOf(proxyTypes, {
  description: '`custom` for your own proxy, or a type that the operator has configured',
})
const name = { description: 'Name; need not be unique', maxLength: 255 }

export const Proxy = Type.Object(
  {
    id: Type.String({ description: 'Unique id of the proxy' }),
    name: Type.Optional(Type.String(name)),
    type,
    protocol: OneOf(proxyProtocols, { description: 'Protocol of the connection to the proxy' }),
    bypass_hosts: Type.Array(Type.String(), {
      description: 'Hosts to connect to directly, without the proxy',
    }),
    config: ProxyConfig,
    status: Type.Optional(
      OneOf(proxyStatuses, { description: 'Result of the last check; absent before the first check' }),
    ),
    last_checked: Type.Optional(Timestamp('When the proxy was last checked')),
    ip_address: Type.Optional(
      Type.String({ description: 'Public IP address of the proxy, if a check found it' }),
    ),
    created_at: Timestamp('Extension: when the proxy was created'),
  },
  { title: 'Proxy' },
)
export type Proxy = Static<typeof Proxy>

export const CreateProxyRequest = Open({
  type,
  name: Type.Optional(Text({ ...name, minLength: 1 })),
  protocol: Type.Optional(
    OneOf(proxyProtocols, {
      description:
        'Protocol of the connection to the proxy; `https` (TLS to the proxy) when omitted. `socks5` is an extension. For types other than `custom`, the operator decides',
    }),
  ),
  bypass_hosts: Type.Optional(
    Type.Array(
      Text({ description: 'A host name, or `*.` and a domain', minLength: 1, maxLength: MAX_HOST_LENGTH }),
      {
        maxItems: MAX_BYPASS_HOSTS,
        description:
          'Host names to connect to directly, without the proxy. `*.example.com` matches all subdomains. Ports and IP addresses are not allowed',
      },
    ),
  ),
  config: Type.Optional(CreateProxyConfig),
})
export type CreateProxyRequest = Static<typeof CreateProxyRequest>

/** The proxy of a session, at creation and in updates. */
export const ProxyId = Type.String({ maxLength: 255, description: 'Id of a proxy of the same project' })
export const NextProxyId = Nullable(
  Type.String({
    maxLength: 255,
    description:
      'Id of the proxy to use from now on, for open pages too. An empty string removes the proxy; omit or null to keep it',
  }),
)

export const proxyModes = ['default', 'direct'] as const
export type ProxyMode = (typeof proxyModes)[number]

export const proxySelection = {
  id: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'Id of the proxy' })),
  name: Type.Optional(
    Text({
      description: 'Name of the proxy; exactly one proxy of the project must have it',
      minLength: 1,
      maxLength: 255,
    }),
  ),
  mode: Type.Optional(
    OneOf(proxyModes, {
      description:
        '`direct`: no proxy. `default`: the default proxy of stealth sessions, if the operator has one; no proxy for others',
    }),
  ),
}

export const ProxySelectionRequest = Open(proxySelection, {
  description:
    'Proxy of the session: exactly one of `id`, `name` and `mode`. Replaces `proxy_id` and `disable_default_proxy`, and cannot be combined with them',
})
export type ProxySelectionRequest = Static<typeof ProxySelectionRequest>

/** Either `id`, with the proxy's name if it has one, or `mode`. */
export const ProxySelection = Type.Object(
  {
    id: Type.Optional(Type.String({ description: 'Id of the proxy' })),
    name: Type.Optional(Type.String({ description: 'Name of the proxy, if it has one' })),
    mode: Type.Optional(OneOf(proxyModes, { description: 'When no proxy is selected' })),
  },
  { title: 'BrowserProxySelection', description: 'Proxy of the session: selected, or by mode' },
)
export type ProxySelection = Static<typeof ProxySelection>

const params = Type.Object({ id: resourceId('proxy') })

export const createProxy = operation({
  id: 'createProxy',
  referenceIds: ['postProxies'],
  tag,
  summary: 'Create a proxy',
  method: 'POST',
  path: '/proxies',
  body: CreateProxyRequest,
  status: 201,
  response: Proxy,
  errors: ['bad_request'],
})

export const listProxies = operation({
  id: 'listProxies',
  referenceIds: ['getProxies'],
  tag,
  summary: 'List proxies, newest first',
  method: 'GET',
  path: '/proxies',
  query: Type.Object({
    ...pageQuery,
    query: Type.Optional(
      Text({
        description: 'Case-insensitive text to find in the name, host or public IP address, or the id',
        maxLength: 255,
      }),
    ),
    name: Type.Optional(Text({ description: 'Exact name', maxLength: 255 })),
  }),
  status: 200,
  response: Type.Array(Proxy),
  paging: 'offset',
  errors: ['bad_request'],
})

export const getProxy = operation({
  id: 'getProxy',
  referenceIds: ['getProxiesById'],
  tag,
  summary: 'Get a proxy',
  method: 'GET',
  path: '/proxies/{id}',
  params,
  status: 200,
  response: Proxy,
  errors: ['not_found', 'invalid_state'],
})

export const updateProxy = operation({
  id: 'updateProxy',
  referenceIds: ['patchProxiesById'],
  tag,
  summary: 'Rename a proxy',
  method: 'PATCH',
  path: '/proxies/{id}',
  params,
  body: Open({ name: Text({ ...name, minLength: 1 }) }),
  status: 200,
  response: Proxy,
  errors: ['bad_request', 'not_found'],
})

export const deleteProxy = operation({
  id: 'deleteProxy',
  referenceIds: ['deleteProxiesById'],
  tag,
  summary: 'Delete a proxy that is not in use',
  method: 'DELETE',
  path: '/proxies/{id}',
  kind: 'empty',
  params,
  status: 204,
  errors: ['not_found', 'resource_in_use'],
})

export const checkProxy = operation({
  id: 'checkProxy',
  referenceIds: ['postProxiesByIdCheck'],
  tag,
  summary: 'Check whether a proxy works, and find its public IP address',
  description:
    'Without `url`, the result is stored in `status`, `last_checked` and `ip_address`. With `url`, it is only returned, because a failure may be caused by the website.',
  method: 'POST',
  path: '/proxies/{id}/check',
  params,
  body: Open({
    url: Type.Optional(
      Text({ description: 'http or https URL to reach through the proxy', minLength: 1, maxLength: 2048 }),
    ),
  }),
  bodyOptional: true,
  effect: 'act',
  status: 200,
  response: Proxy,
  errors: ['bad_request', 'not_found', 'invalid_state'],
})
