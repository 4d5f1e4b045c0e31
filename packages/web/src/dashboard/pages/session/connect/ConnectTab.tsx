// How programs reach the session. The tokens are dots until somebody wants to see them; copying copies the real ones.
import { useState } from 'react'
import { CopyButton } from '../../../parts/Copy.tsx'
import { Card } from '../../../parts/Page.tsx'
import { Check } from '../../../parts/Field.tsx'
import { useSession } from '../session.ts'
import { hideTokens, snippetsOf } from './snippets.ts'

export default function ConnectTab() {
  const session = useSession()
  const [isShown, setShown] = useState(false)
  const snippets = snippetsOf(session)
  const [chosen, setChosen] = useState(snippets[0]!.id)
  const snippet = snippets.find(({ id }) => id === chosen) ?? snippets[0]!
  const urls = [
    ['CDP', session.cdp_ws_url],
    ['WebDriver BiDi', session.webdriver_ws_url],
    ['Playwright', session.playwright_ws_url],
    ['Live view', session.browser_live_view_url],
    ['Control API', session.base_url],
  ] as const
  const shown = (text: string) => (isShown ? text : hideTokens(text))
  return (
    <div className="tab-scroll">
      <Check
        label="Show the tokens"
        hint="Whoever has these URLs can use the session until it ends."
        isChecked={isShown}
        onChange={setShown}
      />
      <Card>
        <div className="filters">
          <select aria-label="Client" value={chosen} onChange={({ target }) => setChosen(target.value)}>
            {snippets.map(({ id, title }) => (
              <option key={id} value={id}>
                {title}
              </option>
            ))}
          </select>
          {snippet.about !== undefined && <span className="quiet">{snippet.about}</span>}
        </div>
        <Secret label={snippet.title} text={snippet.code} shown={shown(snippet.code)} />
      </Card>
      <Card title="URLs">
        {urls.map(([name, url]) =>
          url === undefined || url === '' ? null : (
            <div key={name}>
              <p className="quiet">{name}</p>
              <Secret label={`${name} URL`} text={url} shown={shown(url)} />
            </div>
          ),
        )}
      </Card>
    </div>
  )
}

function Secret({ label, text, shown }: { label: string; text: string; shown: string }) {
  return (
    <div className="code-block">
      <pre tabIndex={0} aria-label={label}>
        <code>{shown}</code>
      </pre>
      <CopyButton text={text} label={`Copy: ${label}`} />
    </div>
  )
}
