export const sealedHandovers = `
-- What an agent asks and a person answers may hold a code or a password. The columns message and note are those of the
-- version before; what is written from now on is sealed, and leaves them empty.
ALTER TABLE handovers
  ADD COLUMN sealed_message bytea,
  ADD COLUMN sealed_note bytea;
`
