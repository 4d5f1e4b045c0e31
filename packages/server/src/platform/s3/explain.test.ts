import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explain } from './explain.ts'

const place = { bucket: 'files', endpoint: 'https://s3.internal:9000' }
const answered = (name: string, status: number, more: object = {}) =>
  Object.assign(new Error('said by the store'), { name, $metadata: { httpStatusCode: status }, ...more })
const failed = (code: string) => Object.assign(new Error('of the network'), { code })

test('each failure names the setting and what to do', () => {
  const cases: [unknown, RegExp][] = [
    [answered('NoSuchBucket', 404), /no bucket "files" at https:.*; make it, or correct BERTH_BLOBS$/],
    [
      answered('AccessDenied', 403),
      /correct BERTH_S3_ACCESS_KEY_ID and its secret, or give the access key s3:PutObject on bucket "files"/,
    ],
    [answered('InvalidAccessKeyId', 403), /BERTH_S3_ACCESS_KEY_ID/],
    [answered('SignatureDoesNotMatch', 403), /BERTH_S3_SECRET_ACCESS_KEY/],
    [answered('ExpiredToken', 400), /BERTH_S3_SESSION_TOKEN/],
    [answered('RequestTimeTooSkewed', 403), /clocks .* differ too much; set the clock of this machine/],
    [answered('PermanentRedirect', 301), /another region; set BERTH_S3_REGION to that of the bucket/],
    [
      answered('AuthorizationHeaderMalformed', 400, { Region: 'eu-west-1' }),
      /set BERTH_S3_REGION to eu-west-1$/,
    ],
    [
      answered('301', 301, { $response: { headers: { 'x-amz-bucket-region': 'eu-west-2' } } }),
      /set BERTH_S3_REGION to eu-west-2$/,
    ],
    [answered('MethodNotAllowed', 405), /BERTH_S3_ENDPOINT must be an S3 endpoint/],
    [new Error('Region is missing'), /set BERTH_S3_REGION$/],
    [Object.assign(new Error('none'), { name: 'CredentialsProviderError' }), /no credentials; set BERTH_S3_/],
    [failed('ENOTFOUND'), /cannot be resolved \(ENOTFOUND\); correct BERTH_S3_ENDPOINT/],
    [failed('ECONNREFUSED'), /ECONNREFUSED.*is BERTH_S3_ENDPOINT right\?/],
    [failed('DEPTH_ZERO_SELF_SIGNED_CERT'), /NODE_EXTRA_CA_CERTS/],
    [failed('ERR_SSL_WRONG_VERSION_NUMBER'), /does not speak TLS/],
    [answered('InternalError', 500), /it answers InternalError \(500\)$/],
  ]
  for (const [error, message] of cases) assert.match(explain(error, place, 's3:PutObject'), message)
})
