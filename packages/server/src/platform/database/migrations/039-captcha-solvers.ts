export const captchaSolvers = `
-- Who solves captchas for the logins of a connection, besides a person: an address, and the secret of its signatures. Sealed.
ALTER TABLE auth_connections ADD COLUMN sealed_captcha_solver bytea;
`
