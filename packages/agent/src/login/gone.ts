/** Chromium has ended or accepts no connections. */
export class BrowserGone extends Error {}

/** The document or element no longer exists. */
export class PageGone extends Error {}
