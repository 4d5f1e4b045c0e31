export const passkeys = `
-- Keys that websites made in the browsers of logins.
CREATE TABLE credential_passkeys (
  id text PRIMARY KEY,
  credential_id text NOT NULL REFERENCES credentials (id) ON DELETE CASCADE,
  rp_id text NOT NULL,
  -- Of the id that the website knows, so that a key is stored once, and a deleted one does not come back.
  key_hash bytea NOT NULL,
  sealed_key bytea,
  -- No browser has said more than this.
  sign_count bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz,
  deleted_at timestamptz,
  CHECK ((deleted_at IS NULL) = (sealed_key IS NOT NULL))
);
CREATE UNIQUE INDEX credential_passkeys_key ON credential_passkeys (credential_id, key_hash);
-- A login that goes on, once its person is signed in, until they have added a passkey.
ALTER TABLE auth_flows ADD COLUMN adds_passkey boolean NOT NULL DEFAULT false;
`
