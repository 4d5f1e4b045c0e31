export const extensions = `
-- Browser extensions of a project. The archive is a blob; a deleted one is remembered without it.
CREATE TABLE extensions (
  id text PRIMARY KEY,
  project_id text NOT NULL REFERENCES projects (id),
  name text,
  -- Of what was uploaded. What is kept differs from it where a crx came.
  sha256 text NOT NULL,
  size_bytes bigint NOT NULL,
  manifest_name text NOT NULL,
  manifest_version text NOT NULL,
  blob_id text REFERENCES blobs (id),
  archive_bytes bigint NOT NULL,
  -- The key of the archive, sealed.
  sealed_key bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz,
  deleted_at timestamptz,
  CHECK ((deleted_at IS NULL) = (blob_id IS NOT NULL))
);
CREATE UNIQUE INDEX extensions_name ON extensions (project_id, name) WHERE deleted_at IS NULL;
CREATE INDEX extensions_newest ON extensions (created_at DESC, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX extensions_project ON extensions (project_id, created_at DESC, id DESC) WHERE deleted_at IS NULL;

-- Null: what an instance has by itself.
ALTER TABLE browsers ADD COLUMN locale text;
ALTER TABLE browsers ADD COLUMN timezone text;
ALTER TABLE browsers ADD COLUMN has_chrome_policy boolean NOT NULL DEFAULT false;

-- Beside the sessions, as one may be 5 MB and those are read all the time. Sealed: settings of extensions are
-- among them, and may be secrets.
CREATE TABLE browser_policies (
  browser_id text PRIMARY KEY REFERENCES browsers (id),
  sealed bytea NOT NULL,
  size_bytes integer NOT NULL
);
`
