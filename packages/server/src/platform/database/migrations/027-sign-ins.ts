export const signIns = `
-- People who signed in to the dashboard. Each stands for its key, and ends with it.
CREATE TABLE sign_ins (
  id text PRIMARY KEY,
  secret_hash bytea NOT NULL,
  key_id text NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);
CREATE INDEX sign_ins_key ON sign_ins (key_id, created_at);
CREATE INDEX sign_ins_expired ON sign_ins (expires_at);
`
