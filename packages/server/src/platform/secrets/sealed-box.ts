// Envelope encryption of one record: a random data key encrypts the text, and a master key encrypts
// the data key. The context (table, column, row) is authenticated too, so a ciphertext that is moved
// to another row does not open.
//
//   1 byte version | 8 kid | 12 iv | 16 tag | 32 wrapped data key | 12 iv | 16 tag | ciphertext
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { AppError } from '../errors/app-error.ts'
import { KID_BYTES, type Keyring, type MasterKey } from './keyring.ts'

const VERSION = 1
const IV_BYTES = 12
const TAG_BYTES = 16
const KEY_BYTES = 32
const WRAP_START = 1 + KID_BYTES
const BODY_START = WRAP_START + IV_BYTES + KEY_BYTES + TAG_BYTES

export class SealedBox {
  readonly #ring: Keyring

  constructor(ring: Keyring) {
    this.#ring = ring
  }

  seal(text: string, context: string): Buffer {
    const dataKey = randomBytes(KEY_BYTES)
    return Buffer.concat([
      wrap(dataKey, this.#ring.current),
      encrypt(Buffer.from(text), { key: dataKey, context }),
    ])
  }

  open(sealed: Buffer, context: string): string {
    try {
      const key = unwrap(sealed, this.#ring)
      return decrypt(sealed.subarray(BODY_START), { key, context }).toString()
    } catch (error) {
      throw new AppError(
        'invalid_state',
        'Cannot decrypt a stored secret: it was changed or its key is gone',
        {
          cause: error,
        },
      )
    }
  }

  /** Puts the record under the current master key without decrypting the text. */
  rewrap(sealed: Buffer): Buffer {
    return Buffer.concat([wrap(unwrap(sealed, this.#ring), this.#ring.current), sealed.subarray(BODY_START)])
  }
}

function wrap(dataKey: Buffer, { kid, secret }: MasterKey): Buffer {
  return Buffer.concat([
    Buffer.from([VERSION]),
    Buffer.from(kid, 'hex'),
    encrypt(dataKey, { key: secret, context: `data-key/${kid}` }),
  ])
}

function unwrap(sealed: Buffer, ring: Keyring): Buffer {
  if (sealed[0] !== VERSION || sealed.length < BODY_START) throw new Error('Not a sealed record')
  const kid = sealed.subarray(1, WRAP_START).toString('hex')
  const master = ring.find(kid)
  if (!master) throw new Error(`Master key ${kid} is not in the keyring`)
  return decrypt(sealed.subarray(WRAP_START, BODY_START), { key: master.secret, context: `data-key/${kid}` })
}

interface Lock {
  readonly key: Buffer
  readonly context: string
}

function encrypt(plain: Buffer, { key, context }: Lock): Buffer {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  cipher.setAAD(Buffer.from(context))
  const text = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), text])
}

function decrypt(sealed: Buffer, { key, context }: Lock): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
  return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), decipher.final()])
}
