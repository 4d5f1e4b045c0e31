/** What -o takes. */
export const FORMATS = ['table', 'wide', 'json', 'yaml'] as const
export type Format = (typeof FORMATS)[number]
