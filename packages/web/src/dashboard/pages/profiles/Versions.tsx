// The versions of a profile. Restoring one takes nothing away, so it needs no question, only a way back.
import type { Profile, ProfileVersion, VersionSource } from '@berth/contracts/profiles'
import { Link } from '@tanstack/react-router'
import { useAsk, usePower } from '../../api/context.ts'
import { Badge } from '../../parts/Badge.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { Pending } from '../../parts/Notes.tsx'
import { Card } from '../../parts/Page.tsx'
import { keepProject } from '../../parts/project.ts'
import { ShowMore } from '../../parts/ShowMore.tsx'
import { bytes, Time } from '../../parts/Time.tsx'
import { say } from '../../parts/toasts.ts'
import { useAct } from '../../parts/use-act.ts'
import { useLongList } from '../../parts/use-long-list.ts'
import { pathOf } from './profile.ts'

const sources: Readonly<Record<VersionSource, string>> = {
  session: 'Saved when a session ended',
  save: 'Saved from a running session',
  import: 'Imported',
}

const idOf = ({ version }: ProfileVersion) => String(version)

export function Versions({ profile }: { profile: Profile }) {
  const ask = useAsk()
  const canChange = usePower().can('profiles:write')
  const path = pathOf(profile)
  const list = useLongList<ProfileVersion>({
    key: ['profile', 'versions', profile.id],
    idOf,
    read: ({ limit, offset }, signal) => ask(`${path}/versions?limit=${limit}&offset=${offset}`, { signal }),
  })
  const restore = useAct({
    run: (version: number) => ask<Profile>(`${path}/versions/${version}/restore`, { method: 'POST' }),
    changes: ['profile'],
    onDone: (_answer, version) => {
      const before = profile.version
      const undo = before === undefined || before === version ? {} : { undo: () => restore.mutate(before) }
      say(`New sessions start from version ${version}`, undo)
    },
  })
  return (
    <Card title="Versions">
      {list.isPending || list.error ? (
        <Pending query={list} what="versions" />
      ) : list.rows.length === 0 ? (
        <p className="quiet">
          None yet. Create a session with this profile and <code>save_changes</code>, or import an archive.
        </p>
      ) : (
        <div className="scroll-x">
          <table className="plain-table">
            <thead>
              <tr>
                {['Version', 'From', 'Size', 'Saved', ''].map((name) => (
                  <th key={name} scope="col">
                    {name === '' ? <span className="unseen">Actions</span> : name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {list.rows.map((each) => (
                <tr key={each.version}>
                  <td className="number">
                    {each.is_current ? <Badge tone="good">{each.version} current</Badge> : each.version}
                  </td>
                  <td>
                    {sources[each.source]}
                    {each.session_id !== undefined && (
                      <>
                        {' '}
                        <Link to={`/sessions/${each.session_id}`} search={keepProject}>
                          session
                        </Link>
                      </>
                    )}
                    {each.conflicts_with !== undefined && (
                      <small className="hint warn">
                        Without the changes of version {each.conflicts_with}
                      </small>
                    )}
                  </td>
                  <td className="number">{bytes(each.size_bytes)}</td>
                  <td>
                    <Time at={each.created_at} />
                  </td>
                  <td>
                    {canChange && (
                      <span className="actions">
                        <button
                          type="button"
                          disabled={each.is_current || restore.isPending}
                          onClick={() => restore.mutate(each.version)}
                        >
                          Restore
                        </button>
                        <a
                          className="plain"
                          aria-label={`Download version ${each.version}`}
                          href={`${path}/download?version=${each.version}`}
                          download
                        >
                          <Icon name="download" size={16} />
                        </a>
                      </span>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <ShowMore list={list} />
    </Card>
  )
}
