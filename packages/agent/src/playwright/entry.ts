// The one program with Playwright in it, which is large: it runs code that came over the API, or it serves Playwright's
// own protocol.
if (process.argv[2] === 'serve') void import('./serve/main.ts')
else void import('../control/playwright/runner/main.ts')
