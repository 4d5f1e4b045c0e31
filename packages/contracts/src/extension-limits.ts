// Limits for extensions that both the server and the agent enforce.

/** Size of one uploaded archive. */
export const MAX_EXTENSION_BYTES = 100 * 1024 * 1024
/** Size of one unpacked extension, which takes up memory of the session. */
export const MAX_UNPACKED_BYTES = 256 * 1024 * 1024
/** Number of extensions at the creation of a session, or in one request. */
export const MAX_EXTENSIONS = 20

/** Excludes `.` and `..`, because the name becomes a directory name. */
export const EXTENSION_NAME = '^(?!\\.{1,2}$)[a-zA-Z0-9._-]{1,255}$'
