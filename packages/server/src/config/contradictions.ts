// Settings that are valid separately but not together.
import { createSecureContext } from 'node:tls'
import { isLoopback } from './loopback.ts'
import type { SettingValues } from './settings/settings.ts'

const MIN_KEY_LENGTH_BEYOND_LOOPBACK = 24

export function contradictions(values: SettingValues): string[] {
  return [
    ...tlsProblems(values),
    ...weakKeyProblems(values),
    ...awsProblems(values),
    ...s3Problems(values),
    ...driverProblems(values),
  ]
}

function tlsProblems({ BERTH_TLS_CERT: cert, BERTH_TLS_KEY: key }: SettingValues): string[] {
  if (Boolean(cert) !== Boolean(key)) return ['BERTH_TLS_CERT and BERTH_TLS_KEY must be set together']
  if (!cert || !key) return []
  try {
    createSecureContext({ cert, key })
    return []
  } catch (error) {
    return [`BERTH_TLS_CERT and BERTH_TLS_KEY do not work together: ${(error as Error).message}`]
  }
}

function weakKeyProblems({ BERTH_API_KEY: key, BERTH_HOST: host }: SettingValues): string[] {
  if (!key || key.length >= MIN_KEY_LENGTH_BEYOND_LOOPBACK || isLoopback(host)) return []
  return [
    `BERTH_API_KEY must have at least ${MIN_KEY_LENGTH_BEYOND_LOOPBACK} characters when BERTH_HOST is "${host}", but has ${key.length}`,
  ]
}

function driverProblems({ BERTH_DRIVER: driver, BERTH_KUBERNETES_IMAGE: image }: SettingValues): string[] {
  if (driver !== 'kubernetes' || image !== '') return []
  return [
    'BERTH_KUBERNETES_IMAGE must be set when BERTH_DRIVER is "kubernetes": sessions run in Pods of that image',
  ]
}

function awsProblems(values: SettingValues): string[] {
  const id = values.BERTH_AWS_ACCESS_KEY_ID
  if ((id === '') === (values.BERTH_AWS_SECRET_ACCESS_KEY === '')) return []
  return ['BERTH_AWS_ACCESS_KEY_ID and BERTH_AWS_SECRET_ACCESS_KEY must be set together']
}

function s3Problems(values: SettingValues): string[] {
  const { BERTH_S3_SECRET_ACCESS_KEY: secret, BERTH_S3_SECRET_ACCESS_KEY_FILE: file } = values
  const problems: string[] = []
  if (secret !== '' && file !== '') {
    problems.push('BERTH_S3_SECRET_ACCESS_KEY and BERTH_S3_SECRET_ACCESS_KEY_FILE must not be set together')
  }
  if ((values.BERTH_S3_ACCESS_KEY_ID === '') !== (secret === '' && file === '')) {
    problems.push(
      'BERTH_S3_ACCESS_KEY_ID and BERTH_S3_SECRET_ACCESS_KEY (or BERTH_S3_SECRET_ACCESS_KEY_FILE) must be set together',
    )
  }
  if (values.BERTH_S3_SESSION_TOKEN !== '' && values.BERTH_S3_ACCESS_KEY_ID === '') {
    problems.push('BERTH_S3_SESSION_TOKEN needs BERTH_S3_ACCESS_KEY_ID and its secret')
  }
  return problems
}
