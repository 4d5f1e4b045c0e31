export const mailboxes = `
-- Where a credential gets what a website sends by mail. Sealed.
ALTER TABLE credentials ADD COLUMN sealed_mailbox bytea;
`
