export const blobStores = `
-- Places of files. Each has an identity, which is kept in the place itself.
CREATE TABLE blob_stores (
  id text PRIMARY KEY,
  location text NOT NULL,
  -- One for all servers, and not a directory.
  is_remote boolean NOT NULL,
  -- By whichever server; for places that all share.
  swept_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- Null for blobs from before, which are in the directory of the server that wrote them.
ALTER TABLE blobs ADD COLUMN store text;
ALTER TABLE servers ADD COLUMN blob_store text;
-- The same for a server that can run apps, while it can: it starts any app whose files are there.
ALTER TABLE servers ADD COLUMN app_store text;

-- The server whose queue has its job, while nobody has begun.
ALTER TABLE invocations ADD COLUMN sent_to text;
CREATE INDEX invocations_sent ON invocations (sent_to) WHERE finished_at IS NULL;
`
