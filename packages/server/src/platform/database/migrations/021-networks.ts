export const networks = `
-- Null in rows from before: the region of the server that reads them, and the memory that the settings give.
ALTER TABLE browsers
  ADD COLUMN region text,
  ADD COLUMN memory_mb integer,
  -- Private destinations that are reached directly; null: not set.
  ADD COLUMN private_hosts text[];

-- Servers of this region fill the pool; null: all.
ALTER TABLE browser_pools ADD COLUMN region text;

-- ca_bundle is that of proxies from before.
ALTER TABLE proxies
  ADD COLUMN sealed_ca_bundle bytea,
  ADD CHECK (deleted_at IS NULL OR sealed_ca_bundle IS NULL);
`
