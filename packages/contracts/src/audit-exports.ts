// Where the audit log is exported to, continuously.
import { Type, type Static } from 'typebox'
import { operation } from './operation.ts'
import { Nullable, OneOf, Open, pageQuery, resourceId, Text, Timestamp } from './schema.ts'

const tag = 'Audit log'
const path = '/audit-logs/export/destinations'

export const exportStatuses = ['active', 'paused'] as const
export type ExportStatus = (typeof exportStatuses)[number]
const formats = ['jsonl.gz'] as const
const types = ['s3'] as const

const about = {
  type: 'Kind of store',
  format: 'One JSON object in a line for each record, compressed with gzip',
  bucket: 'Name of the bucket',
  prefix: 'Start of the keys of all objects; may be empty',
  region: 'Region of the bucket, such as `us-east-1`',
  role_arn:
    'ARN of the role that Berth assumes to write objects. Its trust policy names `kernel_role_arn`, with `external_id` as `sts:ExternalId`',
  kms_key_id: 'Id or ARN of the KMS key that encrypts objects; the default of the bucket when omitted',
  endpoint:
    'Extension: URL of a store that is compatible with S3, such as `https://s3.example`. Needs `access_key_id` and `secret_access_key`',
  access_key_id: 'Extension: id of an access key, instead of `role_arn`',
} as const

const fields = {
  bucket: Type.String({
    pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$',
    description: about.bucket,
    examples: ['audit-logs'],
  }),
  prefix: Text({ description: about.prefix, maxLength: 512 }),
  region: Type.String({
    pattern: '^[a-z0-9][a-z0-9-]{0,62}$',
    description: about.region,
    examples: ['us-east-1'],
  }),
  role_arn: Type.String({
    pattern: '^arn:aws[a-z-]*:iam::[0-9]*:role/[A-Za-z0-9_+=,.@/-]{1,512}$',
    maxLength: 600,
    description: about.role_arn,
    examples: ['arn:aws:iam::123456789012:role/audit-export'],
  }),
  kms_key_id: Text({ description: about.kms_key_id, maxLength: 2_048 }),
  endpoint: Text({ description: about.endpoint, maxLength: 2_048 }),
  access_key_id: Type.String({
    pattern: '^[\\x21-\\x7e]{1,256}$',
    description: about.access_key_id,
  }),
  secret_access_key: Type.String({
    pattern: '^[\\x21-\\x7e]{1,1024}$',
    description: 'Extension: its secret. Stored encrypted and never shown',
  }),
}

export const AuditExportDestination = Type.Object(
  {
    id: Type.String({ description: 'Unique id' }),
    type: OneOf(types, { description: about.type }),
    format: OneOf(formats, { description: about.format }),
    bucket: Type.String({ description: about.bucket }),
    prefix: Type.String({ description: about.prefix }),
    region: Type.String({ description: about.region }),
    role_arn: Type.String({ description: `${about.role_arn}. Empty with an access key` }),
    external_id: Type.String({ description: 'For the condition `sts:ExternalId` of the trust policy' }),
    kernel_role_arn: Type.String({
      description: 'Who assumes `role_arn`. Empty when this server has no identity in AWS',
    }),
    kms_key_id: Type.Optional(Type.String({ description: about.kms_key_id })),
    endpoint: Type.Optional(Type.String({ description: about.endpoint })),
    access_key_id: Type.Optional(Type.String({ description: about.access_key_id })),
    status: OneOf(exportStatuses, { description: 'Only an active destination gets records' }),
    consecutive_failures: Type.Integer({ description: 'Failed attempts since the last success' }),
    last_success_at: Type.Optional(Timestamp('When an object was last written')),
    last_error: Type.Optional(Type.String({ description: 'Why the last failed attempt failed' })),
    last_error_at: Type.Optional(Timestamp('When it failed')),
    last_exported_cursor: Type.Optional(
      Type.String({ description: 'How far the export has come. Opaque, and not a page token' }),
    ),
    next_attempt_at: Type.Optional(Timestamp('When a failed attempt is repeated')),
    created_at: Timestamp('When the destination was created'),
    updated_at: Timestamp('When its configuration or status was last changed'),
  },
  { title: 'AuditLogExportDestination' },
)
export type AuditExportDestination = Static<typeof AuditExportDestination>

export const CreateAuditExportRequest = Open({
  type: OneOf(types, { description: about.type }),
  format: OneOf(formats, { description: about.format }),
  bucket: fields.bucket,
  prefix: fields.prefix,
  region: fields.region,
  role_arn: Type.Optional(fields.role_arn),
  kms_key_id: Type.Optional(Nullable(fields.kms_key_id)),
  endpoint: Type.Optional(Nullable(fields.endpoint)),
  access_key_id: Type.Optional(fields.access_key_id),
  secret_access_key: Type.Optional(fields.secret_access_key),
})
export type CreateAuditExportRequest = Static<typeof CreateAuditExportRequest>

export const UpdateAuditExportRequest = Open({
  status: Type.Optional(
    Nullable(
      OneOf(exportStatuses, {
        description:
          'A destination becomes active only if its test passes. Berth tests it, unless its last test passed and nothing was changed since',
      }),
    ),
  ),
  bucket: Type.Optional(Nullable(fields.bucket)),
  prefix: Type.Optional(Nullable(fields.prefix)),
  region: Type.Optional(Nullable(fields.region)),
  role_arn: Type.Optional(
    Nullable({ ...fields.role_arn, description: `${about.role_arn}. Replaces an access key` }),
  ),
  kms_key_id: Type.Optional(
    Nullable({ ...fields.kms_key_id, description: `${about.kms_key_id}. An empty string removes it` }),
  ),
  endpoint: Type.Optional(
    Nullable({ ...fields.endpoint, description: `${about.endpoint}. An empty string removes it` }),
  ),
  access_key_id: Type.Optional(
    Nullable({ ...fields.access_key_id, description: `${about.access_key_id}. Replaces the role` }),
  ),
  secret_access_key: Type.Optional(Nullable(fields.secret_access_key)),
})
export type UpdateAuditExportRequest = Static<typeof UpdateAuditExportRequest>

export const exportStages = ['assume_role', 'put_object', 'complete'] as const
export type ExportStage = (typeof exportStages)[number]

export const AuditExportTestResult = Type.Object(
  {
    success: Type.Boolean({ description: 'Whether an object could be written' }),
    stage: OneOf(exportStages, { description: 'The step that failed, or `complete`' }),
    error: Type.Optional(
      Type.Object(
        {
          code: OneOf(['assume_role_failed', 'put_object_failed'] as const, { description: 'What failed' }),
          message: Type.String({ description: 'Why' }),
        },
        { description: 'Absent on success' },
      ),
    ),
  },
  { title: 'AuditLogExportTestResult' },
)
export type AuditExportTestResult = Static<typeof AuditExportTestResult>

const params = Type.Object({ id: resourceId('export destination') })

export const createAuditExport = operation({
  id: 'createAuditLogExportDestination',
  tag,
  summary: 'Create a destination for the export of the audit log',
  description: 'It is paused at first, and nothing is sent to it. Test it, then make it active.',
  method: 'POST',
  path,
  auth: 'organization-key',
  body: CreateAuditExportRequest,
  status: 201,
  response: AuditExportDestination,
  errors: ['bad_request', 'forbidden', 'conflict'],
})

export const listAuditExports = operation({
  id: 'listAuditLogExportDestinations',
  tag,
  summary: 'List the destinations of the export, newest first',
  method: 'GET',
  path,
  auth: 'organization-key',
  query: Type.Object({ ...pageQuery }),
  status: 200,
  response: Type.Array(AuditExportDestination),
  paging: 'offset',
  errors: ['bad_request', 'forbidden'],
})

export const getAuditExport = operation({
  id: 'getAuditLogExportDestination',
  tag,
  summary: 'Get a destination of the export, and how far it has come',
  method: 'GET',
  path: `${path}/{id}`,
  auth: 'organization-key',
  params,
  status: 200,
  response: AuditExportDestination,
  errors: ['forbidden', 'not_found'],
})

export const updateAuditExport = operation({
  id: 'updateAuditLogExportDestination',
  tag,
  summary: 'Change, pause or activate a destination of the export',
  description:
    'The export begins with the records of the moment of activation. What is recorded while the destination is paused is never sent. An upload in flight may finish after a pause.',
  method: 'PATCH',
  path: `${path}/{id}`,
  auth: 'organization-key',
  effect: 'act',
  params,
  body: UpdateAuditExportRequest,
  bodyOptional: true,
  status: 200,
  response: AuditExportDestination,
  errors: ['bad_request', 'forbidden', 'not_found', 'conflict'],
})

export const deleteAuditExport = operation({
  id: 'deleteAuditLogExportDestination',
  tag,
  summary: 'Delete a destination of the export',
  description: 'Objects that were written stay. A new destination has another `external_id`.',
  method: 'DELETE',
  path: `${path}/{id}`,
  auth: 'organization-key',
  kind: 'empty',
  params,
  status: 204,
  errors: ['forbidden', 'not_found'],
})

export const testAuditExport = operation({
  id: 'testAuditLogExportDestination',
  tag,
  summary: 'Test a destination of the export by writing an object',
  description: 'Deletes the object again, if the destination allows that.',
  method: 'POST',
  path: `${path}/{id}/test`,
  auth: 'organization-key',
  effect: 'act',
  params,
  status: 200,
  response: AuditExportTestResult,
  errors: ['forbidden', 'not_found'],
})
