/** One function for all lists: a list is drawn again when its own changes. */
export const idOf = ({ id }: { readonly id: string }) => id
