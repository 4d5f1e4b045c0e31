import { TextField } from '../../parts/Form.tsx'
import { filled } from '../../parts/texts.ts'

export interface Repository {
  readonly url: string
  readonly ref: string
  readonly path: string
  readonly token: string
}

export const emptyRepository: Repository = { url: '', ref: 'main', path: '', token: '' }

/** The field `source` of POST /deployments. */
export function sourceOf({ url, ref, path, token }: Repository, entrypoint: string): object {
  return {
    type: 'github',
    url: url.trim(),
    ref: ref.trim(),
    entrypoint: entrypoint.trim(),
    ...(filled(path) !== undefined && { path: path.trim() }),
    ...(filled(token) !== undefined && { auth: { method: 'github_token', token: token.trim() } }),
  }
}

export interface RepositoryFieldsProps {
  readonly repository: Repository
  readonly onChange: (repository: Repository) => void
}

export function RepositoryFields({ repository, onChange }: RepositoryFieldsProps) {
  const field = (name: keyof Repository) => ({
    value: repository[name],
    onChange: (text: string) => onChange({ ...repository, [name]: text }),
  })
  return (
    <>
      <TextField
        name="source.url"
        label="Repository"
        placeholder="https://github.com/owner/name"
        autoFocus
        {...field('url')}
      />
      <div className="form-grid">
        <TextField name="source.ref" label="Branch, tag or commit" {...field('ref')} />
        <TextField
          name="source.path"
          label="Folder of the app"
          hint="Empty: the root of the repository"
          isOptional
          {...field('path')}
        />
      </div>
      <TextField
        name="source.auth.token"
        label="Token that may read it"
        hint="For a private repository. Kept encrypted until the build ends, and never shown."
        type="password"
        isOptional
        {...field('token')}
      />
    </>
  )
}
