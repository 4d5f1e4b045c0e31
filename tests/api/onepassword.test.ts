// 1Password service accounts in the server as it is shipped. Without their cloud: what their SDK says before and about it.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import type { CredentialProvider, CredentialProviderTestResult } from '@berth/contracts/credential-providers'
import { startServer } from '../fixtures/server.ts'
import { send } from '../fixtures/sessions.ts'

const server = await startServer({ after })

const random = (bytes: number) => randomBytes(bytes).toString('base64url')

/** Everything that a real token has. */
function tokenWith(seed: Buffer): string {
  const content = {
    signInAddress: 'berth-test.1password.eu',
    userAuth: { method: 'SRPg-4096', alg: 'PBES2g-HS256', iterations: 650_000, salt: random(16) },
    email: 'nobody@1passwordserviceaccounts.com',
    srpX: randomBytes(32).toString('hex'),
    muk: { alg: 'A256GCM', ext: true, k: random(32), key_ops: ['encrypt', 'decrypt'], kty: 'oct', kid: 'mp' },
    secretKey: 'A3-C4ZJMN-PQTZTL-HGL84-G64M7-KVZRN-4ZVP6',
    throttleSecret: { seed: seed.toString('hex'), uuid: 'A'.repeat(26) },
    deviceUuid: 'a'.repeat(26),
  }
  return `ops_${Buffer.from(JSON.stringify(content)).toString('base64url')}`
}

async function tested(name: string, token: string): Promise<string> {
  const body = { name, provider_type: 'onepassword', token }
  const made = await send<CredentialProvider>(server, 'POST', '/org/credential_providers', body)
  assert.equal(made.status, 201, made.body.message)
  const path = `/org/credential_providers/${made.body.id}/test`
  const answer = await send<CredentialProviderTestResult>(server, 'POST', path)
  assert.equal(answer.status, 200)
  assert.equal(answer.body.success, false)
  return answer.body.error!
}

test('the SDK is there, and says whether the token or the network is at fault', async () => {
  const start = /^Cannot read from credential provider "\w+": /
  assert.match(await tested('cut', tokenWith(randomBytes(32)).slice(0, 40)), start)
  const whole = await tested('whole', tokenWith(randomBytes(32)))
  // Whether there is a network here or not.
  assert.match(whole, /servers cannot be reached from this server$|refuses the token/)
})

test('a token that makes the SDK panic does not end the server', async () => {
  assert.match(await tested('panic', tokenWith(Buffer.alloc(32))), /its SDK failed; check the token/)
  assert.equal((await server.fetch('/health')).status, 200)
  assert.equal(server.process.exitCode, null)
})

test('an installation without development packages has what the bundle loads from node_modules', () => {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { dev?: boolean }>
  }
  const wanted = [
    '@1password/sdk',
    '@1password/sdk-core',
    '@aws-sdk/client-s3',
    '@aws-sdk/client-sts',
    'koffi',
  ]
  for (const name of wanted) {
    const entry = lock.packages[`node_modules/${name}`]
    assert.ok(entry && entry.dev !== true, name)
  }
})
