export const proxies = `
CREATE TABLE proxies (
  id text PRIMARY KEY,
  project_id text NOT NULL REFERENCES projects (id),
  name text,
  type text NOT NULL,
  protocol text NOT NULL CHECK (protocol IN ('http', 'https', 'socks5')),
  bypass_hosts text[] NOT NULL,
  config jsonb NOT NULL,
  -- User name and password, sealed.
  credentials bytea,
  ca_bundle text,
  -- Of the last check; null: never checked.
  status text,
  ip_address text,
  last_checked timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  -- A deleted one is remembered for being deleted twice, not for what it knew.
  CHECK (deleted_at IS NULL OR (credentials IS NULL AND ca_bundle IS NULL))
);
CREATE INDEX proxies_newest ON proxies (project_id, created_at DESC, id DESC) WHERE deleted_at IS NULL;

ALTER TABLE browsers
  ADD COLUMN proxy_id text REFERENCES proxies (id),
  ADD COLUMN is_default_proxy_disabled boolean NOT NULL DEFAULT false,
  -- How often these were changed, and up to which change the server that has the session has followed.
  ADD COLUMN proxy_version integer NOT NULL DEFAULT 0,
  ADD COLUMN proxy_applied_version integer NOT NULL DEFAULT 0;
CREATE INDEX browsers_proxy ON browsers (proxy_id) WHERE deleted_at IS NULL AND proxy_id IS NOT NULL;
`
