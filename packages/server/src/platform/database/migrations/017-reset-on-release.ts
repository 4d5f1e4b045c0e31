export const resetOnRelease = `
-- Every release of the pool's browsers gives the next lease an unused one.
ALTER TABLE browser_pools ADD COLUMN reset_on_release boolean NOT NULL DEFAULT false;
`
