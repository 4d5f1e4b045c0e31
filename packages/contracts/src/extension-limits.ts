// Of extensions, what both the server and the agent hold to.

/** Of one archive, as it is sent. */
export const MAX_EXTENSION_BYTES = 100 * 1024 * 1024
/** Of one, when it is unpacked: it lies in the memory of a session then. */
export const MAX_UNPACKED_BYTES = 256 * 1024 * 1024
/** Of a session, at its creation or in one request. */
export const MAX_EXTENSIONS = 20

/** Becomes a directory, so it is neither of those that every directory has. */
export const EXTENSION_NAME = '^(?!\\.{1,2}$)[a-zA-Z0-9._-]{1,255}$'
