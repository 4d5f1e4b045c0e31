export const credentials = `
CREATE TABLE credentials (
  id text PRIMARY KEY,
  project_id text NOT NULL REFERENCES projects (id),
  name text NOT NULL,
  domain text NOT NULL,
  sso_provider text,
  -- Null: it has none.
  sealed_values bytea,
  sealed_totp bytea,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  -- A deleted one is remembered for being deleted twice, not for what it knew.
  CHECK (deleted_at IS NULL OR (sealed_values IS NULL AND sealed_totp IS NULL))
);
CREATE UNIQUE INDEX credentials_name ON credentials (project_id, name) WHERE deleted_at IS NULL;
CREATE INDEX credentials_newest ON credentials (project_id, created_at DESC, id DESC) WHERE deleted_at IS NULL;

CREATE TABLE credential_providers (
  id text PRIMARY KEY,
  name text NOT NULL,
  provider_type text NOT NULL,
  server_url text,
  sealed_token bytea,
  is_enabled boolean NOT NULL DEFAULT true,
  priority integer NOT NULL,
  cache_ttl_seconds integer NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  CHECK ((deleted_at IS NULL) = (sealed_token IS NOT NULL))
);
CREATE UNIQUE INDEX credential_providers_name ON credential_providers (name) WHERE deleted_at IS NULL;
`
