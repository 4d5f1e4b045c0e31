// What is sent to a store of objects, over TLS and over connections that the caller makes. tests/faults/audit-export.test.ts
// has a real store; keys of KMS and names of AWS's hosts can only be looked at.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { connect as connectTcp, type AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { Bucket } from '@berth/server/platform/s3/bucket'
import { ConnectRefused } from '@berth/server/platform/s3/failure'
import { newCertificate } from '../fixtures/certificates.ts'

interface Seen {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

const certificate = newCertificate('*.s3.eu-central-1.amazonaws.com', 's3.example.com')
const seen: Seen[] = []
const store = createServer(certificate, (request, response) => void answer(request, response))

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url, headers } = request
  seen.push({ method, url, headers, body: await buffer(request) })
  if (!url!.includes('endless')) return void response.writeHead(200).end()
  response.writeHead(400, { 'content-type': 'application/xml' })
  const more = () => {
    while (response.write('<Error>'.repeat(10_000)));
  }
  response.on('drain', more)
  more()
}
store.listen(0, '127.0.0.1')
await once(store, 'listening')
after(async () => {
  store.closeAllConnections()
  store.close()
  await once(store, 'close')
})

const asked: string[] = []
/** All names lead to the store. */
const connect = (host: string, port: number) => {
  asked.push(`${host}:${port}`)
  const socket = connectTcp((store.address() as AddressInfo).port, '127.0.0.1')
  return once(socket, 'connect').then(() => socket)
}
const refusing = () => Promise.reject(new ConnectRefused('Cannot reach "x": it is not public'))
const options = {
  bucket: 'audit-logs',
  region: 'eu-central-1',
  endpoint: undefined,
  credentials: { accessKeyId: 'id', secretAccessKey: 'secret', sessionToken: 'token' },
  connect,
}
const content = {
  body: Buffer.from('x'.repeat(100_000)),
  contentType: 'application/gzip',
  kmsKeyId: undefined,
}
const signal = () => AbortSignal.timeout(10_000)

test('a store whose certificate nobody vouches for gets nothing', async () => {
  using bucket = await Bucket.open(options)
  await assert.rejects(bucket.put('key', content, signal()), {
    name: 'S3Failure',
    message: /^the connection failed \((UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED_CERT_IN_CHAIN)\)$/,
  })
  assert.deepEqual(seen, [])
})

test('objects go to the host of their bucket, whole and signed', async () => {
  setDefaultCACertificates([...getCACertificates('default'), certificate.ca])
  using bucket = await Bucket.open(options)
  await bucket.put('a/date=1/x-0000.jsonl.gz', content, signal())
  const [{ method, url, headers, body }] = seen.splice(0) as [Seen]
  assert.deepEqual(asked.splice(0).at(-1), 'audit-logs.s3.eu-central-1.amazonaws.com:443')
  assert.equal(headers.host, 'audit-logs.s3.eu-central-1.amazonaws.com')
  assert.equal(`${method} ${url!.split('?')[0]}`, 'PUT /a/date%3D1/x-0000.jsonl.gz')
  assert.equal(headers['content-md5'], createHash('md5').update(content.body).digest('base64'))
  assert.equal(headers['content-type'], 'application/gzip')
  assert.equal(headers['x-amz-security-token'], 'token')
  assert.match(
    headers.authorization!,
    /^AWS4-HMAC-SHA256 Credential=id\/\d{8}\/eu-central-1\/s3\/aws4_request/,
  )
  assert.equal(headers['x-amz-server-side-encryption'], undefined)
  assert.ok(body.equals(content.body))
})

test('a key of KMS is named, and a compatible store has the bucket in its paths', async () => {
  using bucket = await Bucket.open({ ...options, endpoint: 'https://s3.example.com' })
  await bucket.put('key', { ...content, kmsKeyId: 'kms-1' }, signal())
  await bucket.remove('key', signal())
  const [put, removed] = seen.splice(0) as [Seen, Seen]
  assert.equal(asked.splice(0).at(-1), 's3.example.com:443')
  assert.equal(put.headers['x-amz-server-side-encryption'], 'aws:kms')
  assert.equal(put.headers['x-amz-server-side-encryption-aws-kms-key-id'], 'kms-1')
  assert.match(put.url!, /^\/audit-logs\/key/)
  assert.match(`${removed.method} ${removed.url}`, /^DELETE \/audit-logs\/key/)
})

test('a connection that is refused is told as it is, and one that hangs ends with its signal', async () => {
  using refused = await Bucket.open({ ...options, connect: refusing })
  await assert.rejects(refused.put('key', content, signal()), {
    message: 'Cannot reach "x": it is not public',
  })
  using hanging = await Bucket.open({ ...options, connect: () => new Promise(() => {}) })
  await assert.rejects(hanging.put('key', content, AbortSignal.timeout(200)), {
    name: 'S3Failure',
    message: 'it took too long to answer',
  })
})

test('an answer without end is cut off', async () => {
  using bucket = await Bucket.open(options)
  await assert.rejects(bucket.put('endless', content, signal()), {
    name: 'S3Failure',
    message: 'its answer is too large',
  })
})
