export const keyScopes = `
-- What a key may do; null means everything. The key that made it: a key ends with its maker.
ALTER TABLE api_keys
  ADD COLUMN scopes text[],
  ADD COLUMN maker_id text REFERENCES api_keys (id);
CREATE INDEX api_keys_maker ON api_keys (maker_id) WHERE maker_id IS NOT NULL;

-- What the operation needed; empty for callers without a key, and in records from before.
ALTER TABLE audit_logs ADD COLUMN scope text NOT NULL DEFAULT '';
`
