import type { Noun, Verb } from '../command/rows.ts'

const getLimits: Verb = { name: 'get', op: 'getProjectLimits' }
const setLimits: Verb = { name: 'set', op: 'updateProjectLimits' }

export const projects: Noun = {
  name: 'projects',
  aliases: ['project'],
  summary: 'Projects, and what they may use',
  columns: 'id name status created_at',
  wide: 'updated_at',
  verbs: [
    { name: 'list', aliases: ['ls'], op: 'listProjects' },
    {
      name: 'create',
      op: 'createProject',
      args: '[name]',
      flags: [{ flags: '--name <text>', field: 'name' }],
    },
    { name: 'get', op: 'getProject' },
    { name: 'update', op: 'updateProject' },
    {
      name: 'delete',
      aliases: ['rm'],
      op: 'deleteProject',
      summary: 'Delete a project',
      confirm: 'terminal',
      done: 'Deleted {id}',
    },
    { name: 'storage', op: 'getProjectStorage' },
    { name: 'limits', summary: 'What a project may use', verbs: [getLimits, setLimits] },
    { ...getLimits, name: 'get-limits', isHidden: true },
    { ...setLimits, name: 'set-limits', isHidden: true },
  ],
}

export const org: Noun = {
  name: 'org',
  aliases: ['organization', 'organisation'],
  summary: 'Limits of the organisation',
  verbs: [
    {
      name: 'limits',
      summary: 'What the organisation may use',
      verbs: [
        { name: 'get', op: 'getOrganizationLimits' },
        { name: 'set', op: 'updateOrganizationLimits' },
      ],
    },
    { name: 'entitlements', op: 'getOrgEntitlements' },
    { name: 'overview', op: 'getOverview', summary: 'What runs now, what ran lately, and what failed' },
    { name: 'changes', op: 'followChanges', summary: 'Follow what changes, one event in a line' },
  ],
}

export const apiKeys: Noun = {
  name: 'api-keys',
  aliases: ['api-key'],
  summary: 'Keys of the API',
  columns: 'id name masked_key=key project_name=project scopes expires_at=expires created_at',
  wide: 'created_by_key_id=made_with deleted_at',
  verbs: [
    { name: 'list', aliases: ['ls'], op: 'listApiKeys' },
    { name: 'get', op: 'getApiKey' },
    {
      name: 'create',
      op: 'createApiKey',
      summary: 'Create a key; it is shown once',
      flags: [
        {
          flags: '--scope <scope>',
          field: 'scopes',
          as: 'strings',
          help: 'What the key may do, such as browsers:write; repeat it for more',
        },
        { flags: '--scopes <scopes>', field: 'scopes', as: 'comma-list', isHidden: true },
      ],
    },
    { name: 'update', op: 'updateApiKey' },
    {
      name: 'rotate',
      op: 'rotateApiKey',
      summary: 'Make a successor; the old key works for a while',
      confirm: 'always',
    },
    {
      name: 'delete',
      aliases: ['rm'],
      op: 'deleteApiKey',
      summary: 'Delete a key, and every key made with it',
      confirm: 'always',
      done: 'Deleted {id}',
    },
  ],
}

const exportFields = [
  'status',
  'bucket',
  'prefix',
  'region',
  'role_arn',
  'kms_key_id',
  'endpoint',
  'access_key_id',
  'secret_access_key',
]

export const auditLogs: Noun = {
  name: 'audit-logs',
  aliases: ['audit-log'],
  summary: 'Who did what',
  columns: 'timestamp=time method path status user_id=user',
  wide: 'auth_strategy=key duration_ms client_ip user_agent',
  verbs: [
    {
      name: 'search',
      aliases: ['list'],
      op: 'listAuditLogs',
      summary: 'Search the audit log; the last 24 hours by default',
      without: ['search_user_id', 'exclude_method'],
      flags: [
        {
          flags: '--user-id <id>',
          field: 'search_user_id',
          as: 'strings',
          help: 'Only of this user; repeat it for more',
        },
        {
          flags: '--exclude-method <method>',
          field: 'exclude_method',
          as: 'strings',
          help: 'Not this method; repeat it for more',
        },
        { flags: '--include-get', help: 'Reads too' },
      ],
      run: () => import('../audit/search.ts'),
    },
    {
      name: 'download',
      op: 'exportAuditLogs',
      summary: 'Download the audit log of at most 30 days',
      without: ['cursor', 'search_user_id', 'exclude_method'],
      flags: [
        {
          flags: '--user-id <id>',
          field: 'search_user_id',
          as: 'strings',
          help: 'Only of this user; repeat it for more',
        },
        {
          flags: '--exclude-method <method>',
          field: 'exclude_method',
          as: 'strings',
          help: 'Not this method; repeat it for more',
        },
        { flags: '--include-get', help: 'Reads too; they are left out otherwise', isHidden: true },
        { flags: '--force', help: 'Replace the file if it exists' },
      ],
      run: () => import('../audit/download.ts'),
    },
    {
      name: 'export',
      summary: 'Send the audit log to S3, continuously',
      columns: 'id bucket prefix region status last_success_at=last_success',
      wide: 'role_arn endpoint consecutive_failures=failures last_error created_at',
      verbs: [
        {
          name: 'create',
          op: 'createAuditLogExportDestination',
          body: { type: 's3', format: 'jsonl.gz' },
          without: ['type', 'format'],
          flags: [
            {
              flags: '--secret-access-key <text>',
              field: 'secret_access_key',
              as: 'secret',
              help: 'The secret key; @FILE or - (stdin) keeps it out of the shell history',
            },
          ],
        },
        { name: 'list', aliases: ['ls'], op: 'listAuditLogExportDestinations' },
        { name: 'get', op: 'getAuditLogExportDestination' },
        {
          name: 'update',
          op: 'updateAuditLogExportDestination',
          flags: [{ flags: '--secret-access-key <text>', field: 'secret_access_key', as: 'secret' }],
        },
        {
          name: 'pause',
          op: 'updateAuditLogExportDestination',
          summary: 'Stop an export for a while',
          body: { status: 'paused' },
          without: exportFields,
        },
        {
          name: 'resume',
          op: 'updateAuditLogExportDestination',
          summary: 'Go on with an export',
          body: { status: 'active' },
          without: exportFields,
        },
        {
          name: 'delete',
          aliases: ['rm'],
          op: 'deleteAuditLogExportDestination',
          summary: 'Delete an export',
          confirm: 'terminal',
          done: 'Deleted {id}',
        },
        { name: 'test', op: 'testAuditLogExportDestination', endsBySuccess: true },
      ],
    },
  ],
}
