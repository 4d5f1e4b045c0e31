import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { blobPlace } from './blobs.ts'

test('a place of files is a directory or a bucket with a prefix', () => {
  assert.equal(blobPlace(''), undefined)
  assert.deepEqual(blobPlace('/srv/files'), { kind: 'directory', path: '/srv/files' })
  assert.deepEqual(blobPlace('files'), { kind: 'directory', path: resolve('files') })
  assert.deepEqual(blobPlace('s3://my-bucket'), { kind: 's3', bucket: 'my-bucket', prefix: '' })
  assert.deepEqual(blobPlace('S3://my-bucket/'), { kind: 's3', bucket: 'my-bucket', prefix: '' })
  assert.deepEqual(blobPlace('s3://b.1/a//b/'), { kind: 's3', bucket: 'b.1', prefix: 'a/b/' })
})

test('a place that cannot be one says what is wrong', () => {
  assert.throws(() => blobPlace('gs://bucket'), /must be a directory or s3:\/\/bucket\/prefix, but is "gs:/)
  assert.throws(() => blobPlace('s3://My_Bucket'), /must name a bucket .* has "My_Bucket"/)
  assert.throws(() => blobPlace('s3://'), /must name a bucket .* has ""/)
  assert.throws(() => blobPlace('s3://bucket/a b'), /must have a prefix .* has "a b"/)
  assert.throws(() => blobPlace('s3://bucket/ü'), /must have a prefix/)
})
