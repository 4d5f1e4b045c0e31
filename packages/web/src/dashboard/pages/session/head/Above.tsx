import { Link } from '@tanstack/react-router'
import { keepProject } from '../../../parts/project.ts'

export function Above() {
  return (
    <Link to="/sessions" search={keepProject}>
      Sessions
    </Link>
  )
}
