export const recordedSound = `
-- Whether a recording also has what the session plays.
ALTER TABLE replays ADD COLUMN record_audio boolean NOT NULL DEFAULT false;
`
