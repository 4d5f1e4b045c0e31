export const replicas = `
-- Where other servers reach it: a session is served by any of them, and runs on one.
ALTER TABLE servers ADD COLUMN address text;

ALTER TABLE browsers ADD COLUMN standby_after_seconds integer;
`
