/** One row of the settings table. */
export interface Setting<T> {
  readonly default: string
  /** What the value counts, such as seconds. `--help` shows it after the default. */
  readonly unit?: string
  readonly help: string
  /** Throws a SettingError for a value that cannot be used. */
  readonly parse: (value: string) => T
  /** The value is the path of a file, which the account of the server need not be able to read. */
  readonly isFile?: true
  /** What `--help` shows as the default, where the real one is long or computed. */
  readonly shownDefault?: string
}

export const setting = <T>(row: Setting<T>): Setting<T> => row
