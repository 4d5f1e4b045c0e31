/** Where a command goes, and with what. */
export interface Server {
  readonly url: string
  readonly key: string | undefined
  readonly project: string | undefined
  /** Where the address and the key are from, for people. */
  readonly from: string
}
