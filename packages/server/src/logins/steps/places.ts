/** The place of every sealed part of a step: it opens only there. */
export const places = {
  words: (entryId: string, number: number) => `auth_steps/sealed/${entryId}/${number}`,
  page: (entryId: string, number: number) => `auth_steps/sealed_page/${entryId}/${number}`,
} as const
