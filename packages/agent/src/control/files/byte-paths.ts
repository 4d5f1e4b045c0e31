// Names in a file system are bytes, and need not be UTF-8. Whatever walks over directories holds its
// paths as Latin-1, where each byte is a character and none is lost.

/** As the file system takes it. */
export function bytesOf(bytePath: string): Buffer {
  return Buffer.from(bytePath, 'latin1')
}

export function toBytePath(path: string): string {
  return Buffer.from(path).toString('latin1')
}

/** For people and the API. */
export function toText(bytePath: string): string {
  return Buffer.from(bytePath, 'latin1').toString()
}
