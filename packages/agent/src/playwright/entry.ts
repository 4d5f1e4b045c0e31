// The one program with Playwright in it, which is large: it runs code that came over the API, it is the process of a REPL,
// or it serves Playwright's own protocol.
if (process.argv[2] === 'serve') void import('./serve/main.ts')
else if (process.argv[2] === 'repl') void import('../control/repl/runner/main.ts')
else void import('../control/playwright/runner/main.ts')
