import type { Profile } from '@berth/contracts/profiles'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useApi } from '../../api/context.ts'
import { Copyable } from '../../parts/Copy.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { Pending } from '../../parts/Notes.tsx'
import { Card, Facts, Page } from '../../parts/Page.tsx'
import { keepProject } from '../../parts/project.ts'
import { bytes, Time } from '../../parts/Time.tsx'
import { useOne } from '../../parts/use-one.ts'
import { useUrl } from '../../parts/use-url.ts'
import { ImportArchive } from './ImportArchive.tsx'
import { pathOf, titleOf } from './profile.ts'
import { ProfileMenu } from './ProfileMenu.tsx'
import { ProfileUses } from './ProfileUses.tsx'
import { Versions } from './Versions.tsx'

export function ProfilePage() {
  const { id = '' } = useParams({ strict: false })
  const { client, power } = useApi()
  const url = useUrl()
  const navigate = useNavigate()
  const query = useOne<Profile>(['profile', id], (signal) => client.profiles.retrieve(id, { signal }))
  const { data: profile } = query
  const above = (
    <Link to="/profiles" search={keepProject}>
      Profiles
    </Link>
  )
  if (!profile) {
    return (
      <Page title="Profile" above={above}>
        <Pending query={query} what="the profile" />
      </Page>
    )
  }
  const canChange = power.can('profiles:write')
  return (
    <Page
      title={titleOf(profile)}
      above={above}
      about={<Copyable text={profile.id} />}
      actions={
        canChange && (
          <>
            {profile.version !== undefined && (
              <a className="button" href={`${pathOf(profile)}/download`} download>
                <Icon name="download" size={16} /> Download
              </a>
            )}
            <button type="button" onClick={() => url.set({ import: true })}>
              <Icon name="upload" size={16} /> Import an archive
            </button>
            <ProfileMenu
              profile={profile}
              onDeleted={() => void navigate({ to: '/profiles', search: keepProject, replace: true })}
            />
          </>
        )
      }
    >
      <Card>
        <Facts
          facts={[
            ['Current version', profile.version ?? 'None: nothing was saved yet'],
            ['Size', profile.size_bytes === undefined ? undefined : bytes(profile.size_bytes)],
            ['State', profile.is_saving ? 'A session is being saved' : undefined],
            ['Last used', profile.last_used_at && <Time at={profile.last_used_at} />],
            ['Changed', profile.updated_at && <Time at={profile.updated_at} />],
            ['Created', <Time key="created" at={profile.created_at} />],
          ]}
        />
      </Card>
      <Versions key={profile.id} profile={profile} />
      <ProfileUses profile={profile} />
      {url.has('import') && canChange && (
        <ImportArchive profile={profile} onClose={() => url.set({ import: undefined })} />
      )}
    </Page>
  )
}
