// Proxies that the traffic of sessions leaves through.
import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { Nullable, OneOf, pageQuery, resourceId, Strict, Text, Timestamp } from './schema.ts'

const tag = 'Proxies'

export const managedProxyTypes = ['datacenter', 'isp', 'residential', 'mobile'] as const
/** Those whose upstream the operator of the server has configured. */
export type ManagedProxyType = (typeof managedProxyTypes)[number]
const proxyTypes = [...managedProxyTypes, 'custom'] as const
export type ProxyType = (typeof proxyTypes)[number]

export const proxyProtocols = ['http', 'https', 'socks5'] as const
export type ProxyProtocol = (typeof proxyProtocols)[number]

const proxyStatuses = ['available', 'unavailable'] as const
export type ProxyStatus = (typeof proxyStatuses)[number]

const operatingSystems = ['windows', 'macos', 'android'] as const
/** Of the oldest published client. */
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
  host: Type.Optional(Text({ description: 'Name or address; `custom` only', minLength: 1, maxLength: 255 })),
  port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, description: 'Port; `custom` only' })),
  username: Type.Optional(
    Text({ description: 'For authentication; `custom` only', minLength: 1, maxLength: 255 }),
  ),
}

/** What the exit of a managed proxy is chosen by. */
const exitFields = {
  country: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z]{2}$',
      description: 'ISO 3166 code; not for `custom`. US when omitted for `datacenter` and `isp`',
    }),
  ),
  state: Type.Optional(
    Type.String({ pattern: '^[A-Za-z]{2}$', description: 'Of the US; `residential` and `mobile`' }),
  ),
  city: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z]{1,100}$',
      description: 'Without spaces, such as `sanfrancisco`, and with a country; `residential` and `mobile`',
    }),
  ),
  zip: Type.Optional(
    Type.String({
      pattern: '^[0-9]{5}$',
      description: 'Of the US, without city and state; `residential` and `mobile`',
    }),
  ),
  asn: Type.Optional(
    Type.String({
      pattern: '^([Aa][Ss])?[0-9]{1,10}$',
      description: 'Number of the network, without city and state; `residential` and `mobile`',
    }),
  ),
  os: Type.Optional(OneOf(operatingSystems, { description: 'Deprecated; `residential` only' })),
  carrier: Type.Optional(OneOf(carriers, { description: 'Of old clients; `mobile` only' })),
}
export type ExitField = keyof typeof exitFields
export const exitFieldNames = Object.keys(exitFields) as ExitField[]

const CreateProxyConfig = Strict(
  {
    ...customFields,
    password: Type.Optional(
      Text({ description: 'Kept encrypted and never shown; `custom` only', minLength: 5, maxLength: 1024 }),
    ),
    ca_bundle: Type.Optional(
      Type.String({
        pattern: '^[\\x20-\\x7e\\r\\n\\t]*$',
        minLength: 1,
        maxLength: 65_536,
        description:
          'Certificates (PEM) of authorities that the certificate of an https proxy may be signed by, besides the public ones; never shown; `custom` only',
      }),
    ),
    ...exitFields,
  },
  { description: 'Depends on the type: `custom` needs host and port, the others choose an exit' },
)
export type CreateProxyConfig = Static<typeof CreateProxyConfig>

const ProxyConfig = Type.Object(
  {
    ...customFields,
    has_password: Type.Optional(Type.Boolean({ description: 'Whether it has a password; `custom` only' })),
    has_ca_bundle: Type.Optional(
      Type.Boolean({ description: 'Whether it has authorities of its own; `custom` only' }),
    ),
    ...exitFields,
  },
  { title: 'ProxyConfig', description: 'Depends on the type' },
)
export type ProxyConfig = Static<typeof ProxyConfig>

const type = OneOf(proxyTypes, {
  description: 'A proxy of yours (`custom`), or a kind that the operator of the server has configured',
})
const name = { description: 'Name for people; need not be unique', maxLength: 255 }

export const Proxy = Type.Object(
  {
    id: Type.String({ description: 'Unique id of the proxy' }),
    name: Type.Optional(Type.String(name)),
    type,
    protocol: OneOf(proxyProtocols, { description: 'How the proxy is spoken to' }),
    bypass_hosts: Type.Array(Type.String(), { description: 'Hosts that are reached without the proxy' }),
    config: ProxyConfig,
    status: Type.Optional(OneOf(proxyStatuses, { description: 'As of the last check; absent before' })),
    last_checked: Type.Optional(Timestamp('When it was last checked')),
    ip_address: Type.Optional(
      Type.String({ description: 'Address its traffic comes from, where a check could learn it' }),
    ),
    created_at: Timestamp('Extension: when it was created'),
  },
  { title: 'Proxy' },
)
export type Proxy = Static<typeof Proxy>

export const CreateProxyRequest = Strict({
  type,
  name: Type.Optional(Text({ ...name, minLength: 1 })),
  protocol: Type.Optional(
    OneOf(proxyProtocols, {
      description:
        '`https` when omitted, which is TLS to the proxy itself; `socks5` is an extension. Except for `custom`, the configuration of the operator decides',
    }),
  ),
  bypass_hosts: Type.Optional(
    Type.Array(
      Text({ description: 'A host, or `*.` and a suffix', minLength: 1, maxLength: MAX_HOST_LENGTH }),
      {
        maxItems: MAX_BYPASS_HOSTS,
        description:
          'Host names that are reached directly; `*.example.com` means all below it. No ports, no addresses',
      },
    ),
  ),
  config: Type.Optional(CreateProxyConfig),
})
export type CreateProxyRequest = Static<typeof CreateProxyRequest>

/** What a session is told about its proxy, at its creation and later. */
export const ProxyId = Type.String({ maxLength: 255, description: 'Proxy of the same project to use' })
export const NextProxyId = Nullable(
  Type.String({
    maxLength: 255,
    description:
      'Proxy to use from now on, for open pages too; an empty one takes it away. Omitted or null: as it is',
  }),
)

const params = Type.Object({ id: resourceId('proxy') })

export const createProxy = operation({
  id: 'createProxy',
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
  tag,
  summary: 'List proxies, newest first',
  method: 'GET',
  path: '/proxies',
  query: Type.Object({
    ...pageQuery,
    query: Type.Optional(
      Text({
        description: 'Case-insensitive part of the name, host or exit address, or the id',
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
  tag,
  summary: 'Rename a proxy',
  method: 'PATCH',
  path: '/proxies/{id}',
  params,
  body: Strict({ name: Text({ ...name, minLength: 1 }) }),
  status: 200,
  response: Proxy,
  errors: ['bad_request', 'not_found'],
})

export const deleteProxy = operation({
  id: 'deleteProxy',
  tag,
  summary: 'Delete a proxy that nothing uses',
  method: 'DELETE',
  path: '/proxies/{id}',
  kind: 'empty',
  params,
  status: 204,
  errors: ['not_found', 'resource_in_use'],
})

export const checkProxy = operation({
  id: 'checkProxy',
  tag,
  summary: 'See whether a proxy works, and where its traffic comes from',
  description:
    'Without `url` the result is kept as status, last_checked and ip_address. With `url` it is only answered: what fails then may be the site.',
  method: 'POST',
  path: '/proxies/{id}/check',
  params,
  body: Strict({
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
