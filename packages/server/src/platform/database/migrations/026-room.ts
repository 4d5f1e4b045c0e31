export const room = `
-- How many more sessions a server has room for, as it said last, and its region. Null for a server that takes none of
-- others: one of an earlier version, one that cannot run sessions, one that stops, one whose sessions run elsewhere.
ALTER TABLE servers ADD COLUMN room integer;
ALTER TABLE servers ADD COLUMN region text;
`
