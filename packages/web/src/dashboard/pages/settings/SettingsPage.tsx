import { useState } from 'react'
import { usePower } from '../../api/context.ts'
import { useLeave } from '../../api/use-leave.ts'
import { Icon } from '../../parts/Icon.tsx'
import { Card, Facts, Page } from '../../parts/Page.tsx'
import { setTheme, theme, themes, type Theme } from '../../parts/theme.ts'
import { Time } from '../../parts/Time.tsx'
import { sayProblem } from '../../parts/toasts.ts'
import { Destinations } from './Destinations.tsx'
import { Health } from './Health.tsx'
import { Features, OrganizationLimits } from './OrganizationLimits.tsx'

export function SettingsPage() {
  const power = usePower()
  return (
    <Page title="Settings">
      <div className="cards">
        <Card title="You">
          <WhoYouAre />
        </Card>
        <Card title="Colours">
          <Colours />
        </Card>
      </div>
      <Health />
      {power.can('projects:read') && <OrganizationLimits />}
      {power.can('projects:read') && <Features />}
      {power.can('browsers:read') && <Destinations />}
    </Page>
  )
}

function WhoYouAre() {
  const leave = useLeave()
  const { key, project, expires_at: until, version } = usePower().signIn
  return (
    <div className="form">
      <Facts
        facts={[
          ['Key', key.name],
          ['Begins and ends with', <code key="masked">{key.masked_key}</code>],
          ['Project', project?.name ?? 'Whole organisation'],
          ['May', key.scopes === null ? 'Everything' : key.scopes.join(', ')],
          ['Signed in until', <Time key="until" at={until} />],
          ['The key ends', key.expires_at === null ? 'Never' : <Time key="ends" at={key.expires_at} />],
          ['Berth', version],
        ]}
      />
      <p className="actions">
        <button type="button" onClick={() => void leave().catch(sayProblem)}>
          <Icon name="out" size={16} /> Sign out
        </button>
      </p>
    </div>
  )
}

const themeWords: Readonly<Record<Theme, string>> = { device: 'As the device', light: 'Light', dark: 'Dark' }

function Colours() {
  const [current, setCurrent] = useState(theme)
  return (
    <div className="form" role="radiogroup" aria-label="Colours">
      {themes.map((each) => (
        <label key={each} className="check">
          <input
            type="radio"
            name="theme"
            checked={current === each}
            onChange={() => {
              setTheme(each)
              setCurrent(each)
            }}
          />
          {themeWords[each]}
        </label>
      ))}
    </div>
  )
}
