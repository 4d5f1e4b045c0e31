/** The kinds of client connections to a session. */
export type ClientPurpose = 'cdp' | 'devtools' | 'bidi' | 'playwright' | 'terminal' | 'live'
