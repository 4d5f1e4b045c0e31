/** A small picture, and a name for it that changes when the picture does. */
export interface Look {
  readonly version: string
  readonly jpeg: Buffer
}

/** What makes small pictures of one width, as long as somebody asks. */
export interface Watch extends Disposable {
  /** Throws when there is nothing to see. */
  look(signal: AbortSignal): Promise<Look>
}

/** The quality of 1 to 100: text is not readable at these sizes anyway. */
export const QUALITY = 60
