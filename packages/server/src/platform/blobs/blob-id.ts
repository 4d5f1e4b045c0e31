const ID = /^[a-z0-9_]{8,64}$/

/** Ids are our own, but a path or a key is never built from unchecked text. */
export function checkBlobId(id: string): string {
  if (!ID.test(id)) throw new Error(`Cannot use "${id}" as a blob id`)
  return id
}

export const isBlobId = (text: string) => ID.test(text)
