/** The message continues the name of the setting: "must be …, but is …". */
export class SettingError extends Error {}
