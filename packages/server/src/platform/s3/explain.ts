// Why the operator's own store did not do something, and what to do about it. Unlike in failure.ts, nobody else reads it.
import { toS3Failure } from './failure.ts'

export interface StorePlace {
  readonly bucket: string
  readonly endpoint: string | undefined
}

interface Thrown {
  readonly name?: string
  readonly code?: string
  readonly message?: string
  readonly Region?: string
  readonly $metadata?: { readonly httpStatusCode?: number }
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> }
}

const WRONG_REGION = new Set([
  'PermanentRedirect',
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException',
])
const TLS_CODES = /CERT|SSL|TLS|EPROTO|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/

/** A sentence without its end. `rights` are those that the request needs. */
export function explain(error: unknown, { bucket, endpoint }: StorePlace, rights = 's3:*'): string {
  const thrown = error as Thrown
  const { name = '', code = '', message = '' } = thrown
  const status = thrown.$metadata?.httpStatusCode
  const at = endpoint ?? 'Amazon S3'
  switch (name) {
    case 'NoSuchBucket':
      return `there is no bucket "${bucket}" at ${at}; make it, or correct BERTH_BLOBS`
    case 'InvalidAccessKeyId':
      return `${at} does not know the access key; correct BERTH_S3_ACCESS_KEY_ID, or the AWS_… variables`
    case 'SignatureDoesNotMatch':
      return 'the secret does not belong to the access key; correct BERTH_S3_SECRET_ACCESS_KEY'
    case 'ExpiredToken':
    case 'ExpiredTokenException':
    case 'InvalidToken':
      return 'the session token is wrong or has expired; renew BERTH_S3_SESSION_TOKEN with its key and secret'
    case 'RequestTimeTooSkewed':
      return `the clocks of this machine and of ${at} differ too much; set the clock of this machine, best with NTP`
    case 'AccessDenied':
      return `access is denied; correct BERTH_S3_ACCESS_KEY_ID and its secret, or give the access key ${rights} on bucket "${bucket}" and its objects`
    case 'CredentialsProviderError':
      return 'there are no credentials; set BERTH_S3_ACCESS_KEY_ID and BERTH_S3_SECRET_ACCESS_KEY, or give this machine a role'
    case 'MethodNotAllowed':
    case 'NotImplemented':
      return `${at} does not support the request (${name}); BERTH_S3_ENDPOINT must be an S3 endpoint`
    default:
  }
  if (WRONG_REGION.has(name) || status === 301) {
    const region = thrown.Region ?? thrown.$response?.headers?.['x-amz-bucket-region']
    const which = region === undefined ? 'that of the bucket' : region
    return `the bucket "${bucket}" is in another region; set BERTH_S3_REGION to ${which}`
  }
  if (message.startsWith('Region is missing')) return 'the region is not known; set BERTH_S3_REGION'
  if (TLS_CODES.test(code)) {
    return `${at} has no certificate that this machine trusts, or does not speak TLS (${code}); correct BERTH_S3_ENDPOINT, or name its authority in NODE_EXTRA_CA_CERTS`
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return `the name of ${at} cannot be resolved (${code}); correct BERTH_S3_ENDPOINT, BERTH_S3_REGION or BERTH_S3_PATH_STYLE`
  }
  const reason = toS3Failure(error).message
  if (reason.startsWith('the connection failed'))
    return `${at}: ${reason}; is it running, and is BERTH_S3_ENDPOINT right?`
  return `${at}: ${reason === 'the request failed' ? message || reason : reason}`
}
