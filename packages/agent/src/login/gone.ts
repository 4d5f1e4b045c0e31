/** The Chromium of the login ended, or takes nobody in. */
export class BrowserGone extends Error {}

/** The document or element that was meant is no more. */
export class PageGone extends Error {}
