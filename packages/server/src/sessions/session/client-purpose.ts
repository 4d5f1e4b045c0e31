/** The kinds of client connections to a session. */
export type ClientPurpose = 'cdp' | 'bidi' | 'playwright' | 'terminal' | 'live'
