export const leaseKeys = `
-- A release must mean one lease. The number with which the present lease began, which names it; 0 while there is none,
-- and for one that an earlier version of the server began. And for each key that leased this browser, the number of its
-- last lease: a release that names none means that one.
ALTER TABLE browsers
  ADD COLUMN lease_started integer NOT NULL DEFAULT 0,
  ADD COLUMN lease_keys jsonb NOT NULL DEFAULT '{}';
`
