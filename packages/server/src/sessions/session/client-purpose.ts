/** What a client may connect to a session for. */
export type ClientPurpose = 'cdp' | 'bidi' | 'terminal' | 'live'
