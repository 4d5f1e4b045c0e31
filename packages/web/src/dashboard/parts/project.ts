/** The chosen project stays in the address from page to page: `<Link search={keepProject}>`. */
export const keepProject = ({ project }: { project?: string }) => (project === undefined ? {} : { project })
