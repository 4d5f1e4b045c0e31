// Logins: connections, stored credentials, password managers.
import { Type } from 'typebox'
import { setTimeout as pause } from 'node:timers/promises'
import * as contract from '@berth/contracts/auth-connections'
import * as credentials from '@berth/contracts/credentials'
import * as providers from '@berth/contracts/credential-providers'
import { OneOf } from '@berth/contracts/schema'
import { compact, data, facts, type Answer } from '../core/answer.ts'
import { cut, MAX_TEXT, visible } from '../core/text.ts'
import { manyTool, type Args, type Context } from '../core/tool.ts'
import { anyText, flag, text, values, whole, words } from './fields.ts'
import { given, pageFields, search } from './paging.ts'
import { act, lists } from './plain.ts'

const WAIT_SECONDS = 25
const LOOK_EVERY_MS = 1_000

const ofConnection = (args: Args) => ({ params: { id: args.id as string } })

function credentialOf(args: Args): object | undefined {
  const {
    credential_name: name,
    credential_provider: provider,
    credential_path: path,
    credential_auto: auto,
  } = args
  const reference = given({ name, provider, path, auto })
  return Object.keys(reference).length === 0 ? undefined : reference
}

function proxyOf({ proxy_id: id, proxy_name: name }: Args): object | undefined {
  return id === undefined && name === undefined ? undefined : given({ id, name })
}

/** What the page asked and said is of the web site. */
function state(connection: contract.ManagedAuth): Answer {
  const {
    status,
    flow_status: flow,
    flow_step: step,
    hosted_url: url,
    ...rest
  } = connection as contract.ManagedAuth & {
    flow_step?: string | null
    hosted_url?: string | null
  }
  const next =
    step === 'AWAITING_INPUT'
      ? [
          'answer with action submit, or show hosted_url to the person: then no password enters this conversation',
        ]
      : flow === 'IN_PROGRESS'
        ? ['action wait again']
        : []
  return [
    facts({
      id: connection.id,
      status,
      flow_status: flow,
      flow_step: step,
      ...given({ hosted_url: url ?? undefined }),
      next_actions: next,
    }),
    data(
      cut(visible(JSON.stringify(compact(rest), undefined, 1)), 0, MAX_TEXT),
      'the login, partly of the web site',
    ),
  ]
}

async function wait(args: Args, { api, signal, progress }: Context): Promise<Answer> {
  const seconds: number = args.wait_seconds ?? WAIT_SECONDS
  const deadline = performance.now() + seconds * 1000
  for (;;) {
    const connection = await api.call(contract.getConnection, ofConnection(args))
    const { flow_status: flow, flow_step: step } = connection as { flow_status?: string; flow_step?: string }
    const isOver = flow !== 'IN_PROGRESS' || step === 'AWAITING_INPUT' || step === 'AWAITING_EXTERNAL_ACTION'
    if (isOver || performance.now() > deadline) return state(connection)
    await progress(`The login is at ${step ?? 'its start'}`)
    await pause(LOOK_EVERY_MS, undefined, { signal })
  }
}

const show = (operation: typeof contract.getConnection) => ({
  does: 'show one connection and its login',
  needs: [operation],
  requires: ['id'],
  run: async (args: Args, { api }: Context) => state(await api.call(operation, ofConnection(args))),
})

export const manageAuthConnections = manyTool({
  name: 'manage_auth_connections',
  title: 'Logins',
  toolset: 'auth_connections',
  description:
    'A connection keeps a profile logged in to a web site. login starts a login; wait until it is done or asks something; submit answers. Passwords are better stored with manage_credentials, or typed by the person at hosted_url.',
  input: {
    id: text('Id of the connection'),
    domain: text('For create: the web site, such as example.com', 2_000),
    profile_name: text('For create: name of the profile; for list: only of this profile'),
    login_url: anyText('Address of the login page, if known', 8_000),
    allowed_domains: words('Further domains that the login may lead to', 50),
    credential_name: text('Name of a stored credential'),
    credential_provider: text('Name of a password manager'),
    credential_path: text('Path of an item there', 1_000),
    credential_auto: flag('Find the item there by the domain'),
    health_check_interval: whole('Seconds between checks', { minimum: 1 }),
    save_credentials: flag('Save what is typed after a login'),
    record_session: flag('Record the browser of a login'),
    proxy_id: text('Id of the proxy of logins'),
    proxy_name: text('Name of the proxy of logins'),
    domain_filter: text('For list: only of this domain', 2_000),
    fields: values('For submit: values by field id or name'),
    mfa_option_id: text('For submit: the way of the second factor'),
    sso_button_selector: text('For submit: selector of a sign-in button', 1_000),
    selected_choice_id: text('For submit: id of a choice'),
    interaction_id: text('For submit: interaction_id of the question'),
    wait_seconds: whole('For wait: how long', { minimum: 1, maximum: 30, default: WAIT_SECONDS }),
    ...pageFields,
  },
  actions: {
    create: act({
      does: 'create a connection',
      operation: contract.createConnection,
      requires: ['domain', 'profile_name'],
      input: (args) => ({
        body: given({
          domain: args.domain,
          profile_name: args.profile_name,
          login_url: args.login_url,
          allowed_domains: args.allowed_domains,
          credential: credentialOf(args),
          proxy: proxyOf(args),
          health_check_interval: args.health_check_interval,
          save_credentials: args.save_credentials,
          record_session: args.record_session,
        }),
      }),
    }),
    list: lists(contract.listConnections, 'list connections', {
      query: ({ profile_name, domain_filter }) => given({ profile_name, domain: domain_filter }),
    }),
    get: show(contract.getConnection),
    delete: act({
      does: 'delete a connection',
      operation: contract.deleteConnection,
      requires: ['id'],
      input: ofConnection,
      said: (args) => ({ deleted: args.id }),
    }),
    login: act({
      does: 'start a login',
      operation: contract.login,
      requires: ['id'],
      input: (args) => ({
        ...ofConnection(args),
        body: given({ proxy: proxyOf(args), record_session: args.record_session }),
      }),
    }),
    submit: act({
      does: 'answer what a login asks',
      operation: contract.submit,
      requires: ['id', 'fields|mfa_option_id|sso_button_selector|selected_choice_id'],
      input: ({ id, fields, mfa_option_id, sso_button_selector, selected_choice_id, interaction_id }) => {
        const isNew = selected_choice_id !== undefined || interaction_id !== undefined
        return {
          params: { id },
          body: given({
            fields: isNew ? undefined : fields,
            field_values: isNew ? fields : undefined,
            mfa_option_id,
            sso_button_selector,
            selected_choice_id,
            interaction_id,
          }),
        }
      },
    }),
    wait: {
      does: 'wait until a login is done or asks something',
      needs: [contract.getConnection],
      requires: ['id'],
      run: wait,
    },
  },
})

const ofCredential = (args: Args) => ({ params: { id_or_name: args.id_or_name as string } })

export const manageCredentials = manyTool({
  name: 'manage_credentials',
  title: 'Credentials',
  toolset: 'credentials',
  description: 'Stored credentials for logins. Values are stored encrypted and never shown again.',
  input: {
    id_or_name: text('Id or name of the credential'),
    domain: text('Web site that it is for', 2_000),
    name: text('Name of the credential'),
    values: values('Values by name, such as username and password'),
    sso_provider: text('Sign-in provider'),
    totp_secret: anyText('Secret of an authenticator app', 2_000),
    query: search,
    ...pageFields,
  },
  actions: {
    list: lists(credentials.listCredentials, 'list credentials', {
      query: ({ domain, query }) => given({ domain, query }),
    }),
    get: act({
      does: 'show one credential without its values',
      operation: credentials.getCredential,
      requires: ['id_or_name'],
      input: ofCredential,
    }),
    totp_code: act({
      does: 'get the current one-time code',
      operation: credentials.getTotpCode,
      requires: ['id_or_name'],
      input: ofCredential,
    }),
    create: act({
      does: 'store a credential',
      operation: credentials.createCredential,
      requires: ['name', 'domain', 'values'],
      input: ({ name, domain, values: all, sso_provider, totp_secret }) => ({
        body: given({ name, domain, values: all, sso_provider, totp_secret }),
      }),
    }),
    update: act({
      does: 'change a credential',
      operation: credentials.updateCredential,
      requires: ['id_or_name'],
      input: (args) => ({
        ...ofCredential(args),
        body: given({
          name: args.name,
          values: args.values,
          sso_provider: args.sso_provider,
          totp_secret: args.totp_secret,
        }),
      }),
    }),
    delete: act({
      does: 'delete a credential',
      operation: credentials.deleteCredential,
      requires: ['id_or_name'],
      input: ofCredential,
      said: (args) => ({ deleted: args.id_or_name }),
    }),
  },
})

const ofProvider = (args: Args) => ({ params: { id: args.id as string } })

export const manageCredentialProviders = manyTool({
  name: 'manage_credential_providers',
  title: 'Password managers',
  toolset: 'credential_providers',
  ofProject: false,
  description: 'Password managers and secret servers from which logins take their credentials.',
  input: {
    id: text('Id of the provider'),
    name: text('Name of the provider'),
    token: text('Its token; stored encrypted', 100_000),
    provider_type: Type.Optional(OneOf(providers.providerTypes, { description: 'Its kind' })),
    server_url: text('Its address, for hashicorp_vault', 8_000),
    cache_ttl_seconds: whole('How long its items are kept', { minimum: 0 }),
    enabled: flag('Whether it is used'),
    priority: whole('Lower is asked first', { minimum: 0 }),
    query: search,
    ...pageFields,
  },
  actions: {
    list: lists(providers.listCredentialProviders, 'list providers', {
      query: ({ query }) => given({ query }),
    }),
    get: act({
      does: 'show one provider',
      operation: providers.getCredentialProvider,
      requires: ['id'],
      input: ofProvider,
    }),
    create: act({
      does: 'add a provider',
      operation: providers.createCredentialProvider,
      requires: ['name', 'token', 'provider_type'],
      input: ({ name, token, provider_type, server_url, cache_ttl_seconds }) => ({
        body: given({ name, token, provider_type, server_url, cache_ttl_seconds }),
      }),
    }),
    update: act({
      does: 'change a provider',
      operation: providers.updateCredentialProvider,
      requires: ['id'],
      input: (args) => ({
        ...ofProvider(args),
        body: given({
          name: args.name,
          token: args.token,
          enabled: args.enabled,
          priority: args.priority,
          cache_ttl_seconds: args.cache_ttl_seconds,
          server_url: args.server_url,
        }),
      }),
    }),
    delete: act({
      does: 'remove a provider',
      operation: providers.deleteCredentialProvider,
      requires: ['id'],
      input: ofProvider,
      said: (args) => ({ deleted: args.id }),
    }),
    list_items: act({
      does: 'list its items, without their secrets',
      operation: providers.listCredentialProviderItems,
      requires: ['id'],
      input: ofProvider,
    }),
    test: act({
      does: 'test its token',
      operation: providers.testCredentialProvider,
      requires: ['id'],
      input: ofProvider,
    }),
  },
})
