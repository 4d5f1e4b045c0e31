// A deployment's data is encrypted with its own key, which the master key seals. A rotation only has to
// move one small record per deployment.
import { randomBytes } from 'node:crypto'
import {
  CONTENT_KEY_BYTES,
  openPiece,
  sealPiece,
  type ContentLock,
} from '../../platform/blobs/sealed-content.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'

export class DeploymentLock {
  readonly #key: Buffer

  private constructor(key: Buffer) {
    this.#key = key
  }

  /** Creates the lock of a new deployment, and the sealed key to store. */
  static make(box: SealedBox, deploymentId: string): { lock: DeploymentLock; sealedKey: Buffer } {
    const key = randomBytes(CONTENT_KEY_BYTES)
    return {
      lock: new DeploymentLock(key),
      sealedKey: box.seal(key.toString('base64'), contextOf(deploymentId)),
    }
  }

  static open(box: SealedBox, deployment: { id: string; sealed_key: Buffer }): DeploymentLock {
    const text = box.open(deployment.sealed_key, contextOf(deployment.id))
    return new DeploymentLock(Buffer.from(text, 'base64'))
  }

  /** Opens only in the same place: `place` names table, column and row. */
  seal(text: string, place: string): Buffer {
    return sealPiece(Buffer.from(text), this.for(place), 0)
  }

  open(sealed: Buffer, place: string): string {
    return openPiece(sealed, this.for(place), 0).toString()
  }

  /** For content that is read in pieces. */
  for(context: string): ContentLock {
    return { key: this.#key, context }
  }
}

const contextOf = (deploymentId: string) => `deployments/sealed_key/${deploymentId}`

/** The place of every sealed value. */
export const places = {
  secrets: (deploymentId: string) => `deployments/secrets/${deploymentId}`,
  source: (deploymentId: string) => `deployments/source/${deploymentId}`,
  built: (deploymentId: string) => `deployments/built/${deploymentId}`,
  payload: (invocationId: string) => `invocations/payload/${invocationId}`,
  output: (invocationId: string) => `invocations/output/${invocationId}`,
  event: (deploymentId: string, seq: string) => `app_events/payload/${deploymentId}/${seq}`,
} as const
