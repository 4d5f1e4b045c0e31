// Packs an archive as a crx (version 3). The signing key is derived from the name, so an extension has the same id in
// every session. The key proves nothing, and exists only in the instance.
// Loaded at first use: it is seldom needed, and a large part of Node.
const crypto = () => process.getBuiltinModule('node:crypto')

const FIELDS = { ecdsa: 3, signedData: 10_000, publicKey: 1, signature: 2, id: 1 }
const ID_BYTES = 16

export function crxOf(archive: Buffer, name: string): { crx: Buffer; id: string } {
  const privateKey = keyOf(name)
  const publicKey = crypto().createPublicKey(privateKey).export({ format: 'der', type: 'spki' })
  const id = crypto().createHash('sha256').update(publicKey).digest().subarray(0, ID_BYTES)
  const signedData = field(FIELDS.id, id)
  const preface = Buffer.concat([Buffer.from('CRX3 SignedData\0'), uint32(signedData.length), signedData])
  const signature = crypto().sign('sha256', Buffer.concat([preface, archive]), privateKey)
  const proof = Buffer.concat([field(FIELDS.publicKey, publicKey), field(FIELDS.signature, signature)])
  const head = Buffer.concat([field(FIELDS.ecdsa, proof), field(FIELDS.signedData, signedData)])
  const crx = Buffer.concat([Buffer.from('Cr24'), uint32(3), uint32(head.length), head, archive])
  return { crx, id: lettersOf(id) }
}

/** Extension ids use the letters a to p as hexadecimal digits. */
function lettersOf(id: Buffer): string {
  return id
    .toString('hex')
    .replaceAll(/./g, (digit) => String.fromCharCode('a'.charCodeAt(0) + Number.parseInt(digit, 16)))
}

const text = (bytes: Buffer) => bytes.toString('base64url')

function keyOf(name: string) {
  const secret = crypto().createHash('sha256').update(`berth extension ${name}`).digest()
  const pair = crypto().createECDH('prime256v1')
  pair.setPrivateKey(secret)
  // The byte 4, then both coordinates.
  const point = pair.getPublicKey()
  const jwk = { kty: 'EC', crv: 'P-256', x: text(point.subarray(1, 33)), y: text(point.subarray(33)) }
  return crypto().createPrivateKey({ key: { ...jwk, d: text(secret) }, format: 'jwk' })
}

/** A field of a protocol buffer: number, length, then the bytes. */
function field(number: number, value: Buffer): Buffer {
  return Buffer.concat([varint(number * 8 + 2), varint(value.length), value])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  for (; value >= 0x80; value = Math.floor(value / 128)) bytes.push((value % 128) | 0x80)
  return Buffer.from([...bytes, value])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
