// Reads an extension's manifest. Rejects what Chromium would reject, before the extension is stored.

/** File name in the root of the extension. */
export const MANIFEST = 'manifest.json'
export const MAX_MANIFEST_BYTES = 1024 * 1024

const MAX_NAME_LENGTH = 500
const MAX_VERSION_PARTS = 4
const MAX_VERSION_NUMBER = 65_535

export interface Manifest {
  readonly name: string
  readonly version: string
  /** The publisher's public key in base64. It determines the id of the extension. */
  readonly key: string | undefined
  readonly permissions: readonly string[]
  /** The whole manifest. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** Throws an Error that explains what is wrong with the manifest. */
export function readManifest(text: string): Manifest {
  const fields = parse(text)
  const { manifest_version: version, name, key } = fields
  if (version === 1 || version === 2) {
    throw new Error(
      `its manifest has version ${version}, which Chromium no longer runs; it needs "manifest_version": 3`,
    )
  }
  if (version !== 3) throw new Error('its manifest needs "manifest_version": 3')
  if (typeof name !== 'string' || name.trim() === '') throw new Error('its manifest has no "name"')
  if (!isVersion(fields['version'])) {
    throw new Error('its manifest needs a "version" of one to four numbers up to 65535, such as "1.0.3"')
  }
  return {
    name: name.slice(0, MAX_NAME_LENGTH),
    version: fields['version'],
    key: typeof key === 'string' ? key : undefined,
    permissions: Array.isArray(fields['permissions'])
      ? fields['permissions'].filter((each) => typeof each === 'string')
      : [],
    fields,
  }
}

/** Chromium grants some permissions only to extensions that an administrator installed. */
export function needsPolicyInstall({ permissions }: Manifest): boolean {
  return permissions.some((each) => each === 'webRequestBlocking' || each.startsWith('enterprise.'))
}

/**
 * The directory of the manifest: the root, or the only top-level directory if the archive contains one.
 * Undefined when neither has a manifest.
 */
export function rootOf(names: readonly string[]): string | undefined {
  if (names.includes(MANIFEST)) return ''
  const tops = new Set(names.map((name) => name.split('/', 1)[0]!).filter((top) => !isOddment(top)))
  const [only] = tops
  return tops.size === 1 && names.includes(`${only}/${MANIFEST}`) ? `${only}/` : undefined
}

/** Files that macOS adds to archives. */
const isOddment = (name: string) => name === '__MACOSX' || name === '.DS_Store'

function isVersion(value: unknown): value is string {
  if (typeof value !== 'string') return false
  const parts = value.split('.')
  return (
    parts.length <= MAX_VERSION_PARTS &&
    parts.every((part) => /^(0|[1-9]\d{0,4})$/.test(part) && Number(part) <= MAX_VERSION_NUMBER)
  )
}

function parse(text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(withoutComments(text.replace(/^\uFEFF/, '')))
  } catch (error) {
    throw new Error(`its manifest is not JSON: ${(error as Error).message}`, { cause: error })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('its manifest is not a JSON object')
  }
  return value as Record<string, unknown>
}

/** Chromium accepts comments in manifests. The pattern also matches whole strings, so that `//` in a string stays. */
function withoutComments(text: string): string {
  return text.replaceAll(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (found) =>
    found.startsWith('"') ? found : ' ',
  )
}
