export const profiles = `
-- What a browser knows, kept from one session to the next.
CREATE TABLE profiles (
  id text PRIMARY KEY,
  project_id text NOT NULL REFERENCES projects (id),
  name text,
  -- The version that sessions start from, and the last number that was given; null and 0: nothing was saved.
  current_version integer,
  last_version integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz,
  deleted_at timestamptz
);
CREATE UNIQUE INDEX profiles_name ON profiles (project_id, name) WHERE deleted_at IS NULL;
CREATE INDEX profiles_newest ON profiles (project_id, created_at DESC, id DESC) WHERE deleted_at IS NULL;

-- A user-data directory as it was saved. Its bytes are a blob, and never change.
CREATE TABLE profile_versions (
  id text PRIMARY KEY,
  profile_id text NOT NULL REFERENCES profiles (id),
  number integer NOT NULL,
  source text NOT NULL,
  based_on integer,
  conflicts_with integer,
  browser_id text,
  sealed_key bytea NOT NULL,
  blob_id text NOT NULL REFERENCES blobs (id),
  -- As tar, and compressed.
  size_bytes bigint NOT NULL,
  packed_bytes bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (profile_id, number)
);

-- The profile of a session: which version it began with, and what became of its changes.
ALTER TABLE browsers
  ADD COLUMN profile_id text REFERENCES profiles (id),
  ADD COLUMN profile_version integer,
  ADD COLUMN profile_save_changes boolean NOT NULL DEFAULT false,
  ADD COLUMN profile_on_conflict text,
  -- saving: the session has ended, and its instance lives until it is saved.
  ADD COLUMN profile_save text CHECK (profile_save IN ('saving', 'saved', 'conflict', 'failed')),
  ADD COLUMN profile_saved_version integer,
  ADD COLUMN profile_save_message text;
CREATE INDEX browsers_saving ON browsers (profile_id) WHERE profile_save = 'saving';
CREATE INDEX browsers_profile ON browsers (profile_id) WHERE deleted_at IS NULL;
`
