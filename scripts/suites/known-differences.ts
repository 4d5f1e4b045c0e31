// Tests that pass in a bare Chromium and cannot pass through Berth. Each needs a reason that was shown, not supposed.

export type SuiteName = 'page' | 'library' | 'bidi'

export interface KnownDifference {
  readonly suite: SuiteName
  /** Matches the name of the test, as the report prints it. */
  readonly test: RegExp
  readonly reason: string
}

const FILE_ADDRESS =
  "a file: address names a file of the session, not of the client's disk (net::ERR_FILE_NOT_FOUND)"

const OWN_DISK =
  "the test opens the download's path on its own disk; it names a file of the session (no such file)"

/** Each opens what it downloaded: with `existsSync`, `readFileSync`, `saveAs` or `createReadStream`. */
const OPENED_DOWNLOADS = [
  'should report download when navigation turns into download',
  'should work with Cross-Origin-Opener-Policy',
  'should report downloads with acceptDownloads: true',
  'should report downloads for download attribute',
  'should save to (user-specified path|two different paths|overwritten filepath)',
  'should create subdirectories when saving',
  'should report (non-navigation|alt-click|new window) downloads',
  'should report download path within page.on',
  'should delete (file|downloads on (context destruction|browser gone)|downloads when context closes)',
  'should expose stream',
  'should download large binary.zip',
  'should not fail explicitly to cancel a download even if that is already finished',
  'should report downloads with interception',
  'should emit download event from nested iframes',
  'should be able to download a (inline )?PDF file',
].join('|')

export const knownDifferences: readonly KnownDifference[] = [
  {
    suite: 'page',
    test: /^page\/(page-goto|page-history|page-network-response)\.spec\.ts › .*file URL/i,
    reason: FILE_ADDRESS,
  },
  {
    suite: 'library',
    test: /^library\/capabilities\.spec\.ts › should play (webm )?video/,
    reason: FILE_ADDRESS,
  },
  {
    suite: 'library',
    test: new RegExp(`^library/downloads?(-path)?\\.spec\\.ts › .*(${OPENED_DOWNLOADS})`),
    reason: OWN_DISK,
  },
  {
    suite: 'bidi',
    test: /^tests\/browsing_context\/test_download\.py::test_browsing_context_download_(default_behavior|behavior_(allow|global))/,
    reason:
      "the test opens the download's path on its own disk; it names a file of the session (FileNotFoundError)",
  },
  {
    suite: 'bidi',
    test: /^tests\/network\/(test_add_intercept\.py::test_add_intercept_type_string_.*invalid|test_continue_request\.py::test_continue_request_invalid_url)/,
    reason:
      'the mapper runs in Node, which words the message about a wrong URL without "Failed to construct \'URL\'"; the error code is the same',
  },
  {
    suite: 'bidi',
    test: /^tests\/session\/test_protocol_basics\.py::test_empty_object/,
    reason:
      'the specification has `id: null` in the answer to a command without an id; the mapper leaves the field out',
  },
]

export interface Sorted {
  readonly unexplained: readonly string[]
  readonly explained: readonly { readonly name: string; readonly reason: string }[]
  /** Entries whose tests have all passed, so that the list should lose them. */
  readonly outdated: readonly KnownDifference[]
}

/** Sorts the tests that fail only through Berth by whether the list explains them. */
export function explain(
  { suite, onlyBare, passed }: { suite: SuiteName; onlyBare: readonly string[]; passed: readonly string[] },
  list: readonly KnownDifference[] = knownDifferences,
): Sorted {
  const entries = list.filter((entry) => entry.suite === suite)
  const unexplained: string[] = []
  const explained: { name: string; reason: string }[] = []
  for (const name of onlyBare) {
    const entry = entries.find(({ test }) => test.test(name))
    if (entry) explained.push({ name, reason: entry.reason })
    else unexplained.push(name)
  }
  const matches = (names: readonly string[], { test }: KnownDifference) =>
    names.some((name) => test.test(name))
  const outdated = entries.filter((entry) => matches(passed, entry) && !matches(onlyBare, entry))
  return { unexplained, explained, outdated }
}
