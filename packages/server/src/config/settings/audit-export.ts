import { integer, text } from '../parsers/basic.ts'
import { egressAllow } from '../parsers/networks.ts'
import { publicUrl } from '../parsers/urls.ts'
import { setting } from './setting.ts'

export const auditExportSettings = {
  BERTH_AUDIT_EXPORT_HOLD_SECONDS: setting({
    default: '600',
    unit: 'seconds',
    parse: integer(1, 86_400),
    help: 'How long records of the audit log are held before they are exported. Longer makes fewer and larger objects.',
  }),
  BERTH_AUDIT_EXPORT_ALLOW: setting({
    default: '',
    parse: egressAllow,
    help: 'Comma list of private CIDRs or host:port where the audit log may be exported to, e.g. s3.internal:9000. Public addresses need no entry.',
  }),
  BERTH_AWS_IDENTITY_ARN: setting({
    default: '',
    parse: text,
    help: 'ARN of the AWS role or user that this server is. Export destinations with a role_arn need it: their trust policies name it.',
  }),
  BERTH_AWS_ACCESS_KEY_ID: setting({
    default: '',
    parse: text,
    help: 'Access key of that role or user. Empty: what the AWS SDK finds, such as AWS_* variables, a web identity, or the role of the machine.',
  }),
  BERTH_AWS_SECRET_ACCESS_KEY: setting({
    default: '',
    parse: text,
    help: 'Secret of that access key.',
  }),
  BERTH_AWS_STS_URL: setting({
    default: '',
    shownDefault: "that of the destination's region",
    parse: publicUrl,
    help: 'URL of the token service that gives out credentials for a role_arn.',
  }),
}
