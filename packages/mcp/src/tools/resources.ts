// Proxies, extensions, apps, projects and keys.
import { Type } from 'typebox'
import * as keys from '@berth/contracts/api-keys'
import * as apps from '@berth/contracts/apps'
import * as deployments from '@berth/contracts/deployments'
import * as extensions from '@berth/contracts/extensions'
import * as invocations from '@berth/contracts/invocations'
import * as projects from '@berth/contracts/projects'
import * as proxies from '@berth/contracts/proxies'
import { OneOf } from '@berth/contracts/schema'
import { scopes } from '@berth/contracts/scopes'
import { manyTool, type Args } from '../core/tool.ts'
import { text, whole } from './fields.ts'
import { given, pageFields, search } from './paging.ts'
import { act, lists } from './plain.ts'

const ofQuery = ({ query }: Args) => given({ query })

const ofProxy = (args: Args) => ({ params: { id: args.proxy_id as string } })

export const manageProxies = manyTool({
  name: 'manage_proxies',
  title: 'Proxies',
  toolset: 'proxies',
  description: 'Proxies that sessions leave by. Use one with proxy_id in manage_browsers.',
  input: {
    proxy_id: text('Id of the proxy'),
    check_url: text('For check: address to reach through it', 8_000),
    type: Type.Optional(
      OneOf([...proxies.managedProxyTypes, 'custom'] as const, { description: 'For create: kind of proxy' }),
    ),
    name: text('Name of the proxy'),
    protocol: Type.Optional(OneOf(proxies.proxyProtocols, { description: 'Protocol to the proxy' })),
    country: text('Country of the exit, such as US'),
    city: text('City of the exit'),
    state: text('State of the exit'),
    custom_host: text('For custom: host'),
    custom_port: whole('For custom: port', { minimum: 1, maximum: 65_535 }),
    custom_username: text('For custom: user'),
    custom_password: text('For custom: password'),
    query: search,
    ...pageFields,
  },
  actions: {
    list: lists(proxies.listProxies, 'list proxies', { query: ofQuery }),
    get: act({ does: 'show one proxy', operation: proxies.getProxy, requires: ['proxy_id'], input: ofProxy }),
    create: act({
      does: 'add a proxy',
      operation: proxies.createProxy,
      requires: ['type'],
      input: (args) => {
        const config = given({
          country: args.country,
          city: args.city,
          state: args.state,
          host: args.custom_host,
          port: args.custom_port,
          username: args.custom_username,
          password: args.custom_password,
        })
        const hasConfig = Object.keys(config).length > 0
        return {
          body: given({
            type: args.type,
            name: args.name,
            protocol: args.protocol,
            config: hasConfig ? config : undefined,
          }),
        }
      },
    }),
    rename: act({
      does: 'give a proxy another name',
      operation: proxies.updateProxy,
      requires: ['proxy_id', 'name'],
      input: (args) => ({ ...ofProxy(args), body: { name: args.name } }),
    }),
    check: act({
      does: 'test whether a proxy works',
      operation: proxies.checkProxy,
      requires: ['proxy_id'],
      input: (args) => ({ ...ofProxy(args), body: given({ url: args.check_url }), workSeconds: 60 }),
    }),
    delete: act({
      does: 'delete a proxy',
      operation: proxies.deleteProxy,
      requires: ['proxy_id'],
      input: ofProxy,
      said: (args) => ({ deleted: args.proxy_id }),
    }),
  },
})

export const manageExtensions = manyTool({
  name: 'manage_extensions',
  title: 'Extensions',
  toolset: 'extensions',
  description: 'Extensions of Chromium that sessions can load with extension_name in manage_browsers.',
  input: { id_or_name: text('Id or name of the extension'), query: search, ...pageFields },
  actions: {
    list: lists(extensions.listExtensions, 'list extensions', { query: ofQuery }),
    delete: act({
      does: 'delete an extension',
      operation: extensions.deleteExtension,
      requires: ['id_or_name'],
      input: (args) => ({ params: { id: args.id_or_name } }),
      said: (args) => ({ deleted: args.id_or_name }),
    }),
  },
})

const ofDeployment = (args: Args) => ({ params: { id: args.deployment_id as string } })
const ofInvocation = (args: Args) => ({ params: { id: args.invocation_id as string } })

export const manageApps = manyTool({
  name: 'manage_apps',
  title: 'Apps',
  toolset: 'apps',
  description:
    'Apps that run beside their browsers. invoke answers at once with an id; read the result with get_invocation.',
  input: {
    app_name: text('Name of the app'),
    version: text('Version of the app'),
    action_name: text('Name of the action'),
    payload: Type.Optional(Type.String({ description: 'For invoke: input of the action, as JSON text' })),
    deployment_id: text('Id of the deployment'),
    invocation_id: text('Id of the invocation'),
    query: search,
    ...pageFields,
  },
  actions: {
    list_apps: lists(apps.listApps, 'list apps with their actions', {
      query: ({ app_name, version, query }) => given({ app_name, version, query }),
    }),
    invoke: act({
      does: 'start an action of an app',
      operation: invocations.createInvocation,
      requires: ['app_name', 'action_name'],
      input: ({ app_name, action_name, version, payload }) => ({
        body: { ...given({ app_name, action_name, version, payload }), async: true },
        workSeconds: 60,
      }),
    }),
    get_deployment: act({
      does: 'show one deployment',
      operation: deployments.getDeployment,
      requires: ['deployment_id'],
      input: ofDeployment,
    }),
    list_deployments: lists(deployments.listDeployments, 'list deployments', {
      query: ({ app_name, version }) => given({ app_name, app_version: version }),
    }),
    delete_deployment: act({
      does: 'delete a deployment',
      operation: deployments.deleteDeployment,
      requires: ['deployment_id'],
      input: ofDeployment,
      said: (args) => ({ deleted: args.deployment_id }),
    }),
    get_invocation: act({
      does: 'show an invocation and its result',
      operation: invocations.getInvocation,
      requires: ['invocation_id'],
      input: ofInvocation,
    }),
    list_invocation_browsers: act({
      does: 'list the sessions of an invocation',
      operation: invocations.listInvocationBrowsers,
      requires: ['invocation_id'],
      input: ofInvocation,
    }),
  },
})

const theProject = (args: Args) => ({ params: { id: args.project as string } })

export const manageProjects = manyTool({
  name: 'manage_projects',
  title: 'Projects',
  toolset: 'projects',
  ofProject: false,
  description: 'Projects keep the resources of different users and purposes apart.',
  input: {
    project: text('Id or name of the project'),
    name: text('Name of the project'),
    status: Type.Optional(OneOf(['active', 'archived'] as const, { description: 'For update' })),
    max_concurrent_sessions: whole('For update_limits; 0 removes the limit', { minimum: 0 }),
    max_concurrent_invocations: whole('For update_limits; 0 removes the limit', { minimum: 0 }),
    max_pooled_sessions: whole('For update_limits; 0 removes the limit', { minimum: 0 }),
    query: search,
    ...pageFields,
  },
  actions: {
    create: act({
      does: 'create a project',
      operation: projects.createProject,
      requires: ['name'],
      input: ({ name }) => ({ body: { name } }),
    }),
    list: lists(projects.listProjects, 'list projects', { query: ofQuery }),
    get: act({
      does: 'show one project',
      operation: projects.getProject,
      requires: ['project'],
      input: theProject,
    }),
    update: act({
      does: 'rename, archive or activate a project',
      operation: projects.updateProject,
      requires: ['project'],
      input: (args) => ({ ...theProject(args), body: given({ name: args.name, status: args.status }) }),
    }),
    delete: act({
      does: 'delete an empty project',
      operation: projects.deleteProject,
      requires: ['project'],
      input: theProject,
      said: (args) => ({ deleted: args.project }),
    }),
    get_limits: act({
      does: 'show the limits of a project',
      operation: projects.getProjectLimits,
      requires: ['project'],
      input: theProject,
    }),
    update_limits: act({
      does: 'change the limits of a project',
      operation: projects.updateProjectLimits,
      requires: ['project'],
      input: (args) => ({
        ...theProject(args),
        body: given({
          max_concurrent_sessions: args.max_concurrent_sessions,
          max_concurrent_invocations: args.max_concurrent_invocations,
          max_pooled_sessions: args.max_pooled_sessions,
        }),
      }),
    }),
  },
})

const ofKey = (args: Args) => ({ params: { id: args.api_key_id as string } })

export const manageApiKeys = manyTool({
  name: 'manage_api_keys',
  title: 'API keys',
  toolset: 'api_keys',
  ofProject: false,
  description: 'API keys. A new key is shown once, in the answer of create; everywhere else it is masked.',
  input: {
    api_key_id: text('Id or name of the key'),
    name: text('Name of the key'),
    project_id: text('For create: the only project of the key'),
    days_to_expire: whole('For create: days until it expires', { minimum: 1, maximum: 3_650 }),
    scopes: Type.Optional(
      Type.Array(OneOf(scopes, { description: 'A scope' }), {
        minItems: 1,
        uniqueItems: true,
        description: 'For create: what the key may do; without them, what the key of this connection may do',
      }),
    ),
    query: search,
    ...pageFields,
  },
  actions: {
    create: act({
      does: 'create a key',
      operation: keys.createApiKey,
      requires: ['name'],
      input: ({ name, project_id, days_to_expire, scopes: chosen }) => ({
        body: given({ name, project_id, days_to_expire, scopes: chosen }),
      }),
    }),
    list: lists(keys.listApiKeys, 'list keys', { query: ofQuery }),
    get: act({ does: 'show one key', operation: keys.getApiKey, requires: ['api_key_id'], input: ofKey }),
    update: act({
      does: 'rename a key',
      operation: keys.updateApiKey,
      requires: ['api_key_id', 'name'],
      input: (args) => ({ ...ofKey(args), body: { name: args.name } }),
    }),
    delete: act({
      does: 'delete a key',
      operation: keys.deleteApiKey,
      requires: ['api_key_id'],
      input: ofKey,
      said: (args) => ({ deleted: args.api_key_id }),
    }),
  },
})
