// What a list of tools names each tool by: its page, its frame, the site, and its name. Another site in the same frame may
// have a tool of the same name, which must not get the input.

export interface ToolRef {
  readonly targetId: string
  readonly frameId: string
  readonly origin: string
  readonly name: string
}

export function encodeRef({ targetId, frameId, origin, name }: ToolRef): string {
  return Buffer.from(JSON.stringify([targetId, frameId, origin, name])).toString('base64url')
}

/** Undefined for anything else. */
export function decodeRef(text: string): ToolRef | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    if (!Array.isArray(parts) || parts.length !== 4) return undefined
    if (!parts.every((part) => typeof part === 'string')) return undefined
    const [targetId, frameId, origin, name] = parts as [string, string, string, string]
    return { targetId, frameId, origin, name }
  } catch {
    return undefined
  }
}
