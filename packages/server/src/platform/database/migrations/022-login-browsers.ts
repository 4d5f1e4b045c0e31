export const loginBrowsers = `
-- How the browser of a connection is made.
ALTER TABLE auth_connections
  ADD COLUMN stealth boolean NOT NULL DEFAULT true,
  -- As it was asked for, if no proxy of the project was.
  ADD COLUMN proxy_mode text CHECK (proxy_mode IN ('direct', 'default')),
  ADD CONSTRAINT auth_connections_one_proxy CHECK (proxy_mode IS NULL OR proxy_id IS NULL);
ALTER TABLE auth_flows
  ADD COLUMN stealth boolean NOT NULL DEFAULT true,
  ADD COLUMN proxy_mode text CHECK (proxy_mode IN ('direct', 'default')),
  -- The name of the credential that a success makes of what the person typed.
  ADD COLUMN save_as text,
  -- A used code is told from one that never existed.
  ADD COLUMN is_handoff_used boolean NOT NULL DEFAULT false;
`
