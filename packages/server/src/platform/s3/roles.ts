// Credentials for a role of somebody else, from AWS's token service.
import type { S3Credentials } from './bucket.ts'
import { S3Failure, toS3Failure } from './failure.ts'

const MAX_ATTEMPTS = 2
const SILENCE_MS = 15_000
const LIFETIME_SECONDS = 3_600

/** Who this server is in AWS. */
export interface AwsIdentity {
  /** Undefined for what the SDK finds: variables, a web identity, the role of the machine. */
  readonly credentials: Pick<S3Credentials, 'accessKeyId' | 'secretAccessKey'> | undefined
  /** Undefined for that of the region. */
  readonly stsUrl: string | undefined
}

export interface WantedRole {
  readonly arn: string
  readonly externalId: string
  readonly region: string
  /** Shown in the logs of the role's owner. */
  readonly sessionName: string
}

export interface RoleCredentials extends S3Credentials {
  readonly expiresAt: Date
}

/** Rejects with S3Failure. */
export async function assumeRole(
  { credentials, stsUrl }: AwsIdentity,
  { arn, externalId, region, sessionName }: WantedRole,
  signal: AbortSignal,
): Promise<RoleCredentials> {
  try {
    const { STSClient, AssumeRoleCommand } = await import('@aws-sdk/client-sts')
    const client = new STSClient({
      region,
      maxAttempts: MAX_ATTEMPTS,
      requestHandler: { connectionTimeout: SILENCE_MS, socketTimeout: SILENCE_MS },
      ...(credentials && { credentials }),
      ...(stsUrl !== undefined && { endpoint: stsUrl }),
    })
    try {
      const command = new AssumeRoleCommand({
        RoleArn: arn,
        ExternalId: externalId,
        RoleSessionName: sessionName,
        DurationSeconds: LIFETIME_SECONDS,
      })
      const { Credentials: given } = await client.send(command, { abortSignal: signal })
      const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = given ?? {}
      if (!AccessKeyId || !SecretAccessKey || !SessionToken) {
        throw new S3Failure('the token service gives no credentials')
      }
      return {
        accessKeyId: AccessKeyId,
        secretAccessKey: SecretAccessKey,
        sessionToken: SessionToken,
        expiresAt: Expiration ?? new Date(),
      }
    } finally {
      client.destroy()
    }
  } catch (error) {
    throw toS3Failure(signal.aborted ? signal.reason : error)
  }
}
