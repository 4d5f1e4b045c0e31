// Who is who inside an instance.

/** The uid inside. Chromium refuses to run as root. */
export const INSIDE_UID = 1000
export const INSIDE_USER = 'kernel'
/** Invocations of an app run as this one, which owns none of the app's files. */
export const APP_UID_INSIDE = 1001
export const uidsInside = { user: INSIDE_UID, app: APP_UID_INSIDE } as const
