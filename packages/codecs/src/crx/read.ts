// A crx is a zip archive behind a signed head (version 3):
//
//   Cr24 | 4 version | 4 length of the head | head, a protocol buffer | zip archive
//
// The head has proofs (field 2: RSA, 3: ECDSA; each a public key, 1, and a signature, 2) and the signed data
// (10000), which holds the id of the extension (1): the first half of the hash of its publisher's key.
import { createHash, createPublicKey, createVerify } from 'node:crypto'
import { BadInput } from '@berth/kit/bad-input'
import { readAt, type ArchiveFile } from '../zip/directory.ts'

const MAGIC = 'Cr24'
const FIXED_BYTES = 12
const MAX_HEAD_BYTES = 1024 * 1024
const ID_BYTES = 16
/** Usually there are two: the publisher's and the store's. Each check reads the whole archive. */
const MAX_PROOFS = 4
const PIECE_BYTES = 256 * 1024
const FIELDS = { rsa: 2, ecdsa: 3, signedData: 10_000, publicKey: 1, signature: 2, id: 1 }

export interface Crx {
  /** Offset of the zip archive. */
  readonly start: number
  /** The publisher's public key, in the format of a manifest. */
  readonly key: string
}

/** Returns undefined if the file is not a crx. Refuses a crx with a wrong signature. */
export async function readCrx(
  file: ArchiveFile,
  size: number,
  signal: AbortSignal,
): Promise<Crx | undefined> {
  if (size < FIXED_BYTES) return undefined
  const fixed = await readAt(file, 0, FIXED_BYTES)
  if (fixed.toString('latin1', 0, 4) !== MAGIC) return undefined
  const version = fixed.readUInt32LE(4)
  if (version !== 3) throw refused(`it has version ${version}, and Chromium takes version 3`)
  const length = fixed.readUInt32LE(8)
  if (length > MAX_HEAD_BYTES || FIXED_BYTES + length > size) throw refused('its head is too long')
  const head = fieldsOf(await readAt(file, FIXED_BYTES, length))
  const signedData = only(head, FIELDS.signedData)
  const id = only(fieldsOf(signedData), FIELDS.id)
  const proofs = head.flatMap(({ field, value }) =>
    field === FIELDS.rsa || field === FIELDS.ecdsa ? [proofIn(value)] : [],
  )
  if (proofs.length > MAX_PROOFS) throw refused(`it has more than ${MAX_PROOFS} signatures`)
  const own = proofs.find(({ publicKey }) => idOf(publicKey).equals(id))
  if (!own) throw refused('none of its signatures is of its publisher')
  const start = FIXED_BYTES + length
  await verify(file, { proofs, signedData, start, size, signal })
  return { start, key: own.publicKey.toString('base64') }
}

interface Proof {
  readonly publicKey: Buffer
  readonly signature: Buffer
}

async function verify(
  file: ArchiveFile,
  options: { proofs: readonly Proof[]; signedData: Buffer; start: number; size: number; signal: AbortSignal },
): Promise<void> {
  const { proofs, signedData, start, size, signal } = options
  const length = Buffer.alloc(4)
  length.writeUInt32LE(signedData.length)
  const preface = Buffer.concat([Buffer.from('CRX3 SignedData\0'), length, signedData])
  const verifiers = proofs.map(() => createVerify('sha256').update(preface))
  for (let at = start; at < size; at += PIECE_BYTES) {
    signal.throwIfAborted()
    const piece = await readAt(file, at, Math.min(PIECE_BYTES, size - at))
    for (const verifier of verifiers) verifier.update(piece)
  }
  for (const [index, { publicKey, signature }] of proofs.entries()) {
    if (!isGood(() => verifiers[index]!.verify(toKey(publicKey), signature))) {
      throw refused('a signature of it is wrong: it was changed, or cut off')
    }
  }
}

const toKey = (der: Buffer) => createPublicKey({ key: der, format: 'der', type: 'spki' })

/** Throws for a malformed key or signature. */
function isGood(check: () => boolean): boolean {
  try {
    return check()
  } catch {
    return false
  }
}

function idOf(publicKey: Buffer): Buffer {
  return createHash('sha256').update(publicKey).digest().subarray(0, ID_BYTES)
}

function proofIn(message: Buffer): Proof {
  const fields = fieldsOf(message)
  return { publicKey: only(fields, FIELDS.publicKey), signature: only(fields, FIELDS.signature) }
}

interface Field {
  readonly field: number
  readonly value: Buffer
}

/** Reads the fields that have a length; a head uses no others. Skips the rest. */
function fieldsOf(message: Buffer): Field[] {
  const fields: Field[] = []
  let at = 0
  const number = (): number => {
    let value = 0
    for (let shift = 1; ; shift *= 128) {
      const byte = message[at++]
      if (byte === undefined || shift > 2 ** 42) throw refused('its head is broken')
      value += (byte & 0x7f) * shift
      if (byte < 0x80) return value
    }
  }
  while (at < message.length) {
    const tag = number()
    const field = Math.floor(tag / 8)
    switch (tag % 8) {
      case 0:
        number()
        break
      case 2: {
        const length = number()
        if (at + length > message.length) throw refused('its head is broken')
        fields.push({ field, value: message.subarray(at, at + length) })
        at += length
        break
      }
      default:
        throw refused('its head is broken')
    }
  }
  return fields
}

function only(fields: readonly Field[], field: number): Buffer {
  const found = fields.filter((each) => each.field === field)
  if (found.length !== 1) throw refused('its head is broken')
  return found[0]!.value
}

function refused(reason: string): BadInput {
  return new BadInput(`Cannot read the crx: ${reason}`)
}
