import { useState } from 'react'
import type { CreateBrowserRequest } from '@berth/contracts/browsers'
import { useApi } from '../../../api/context.ts'
import { Code } from '../../../parts/Copy.tsx'
import { codeOf, languages, type Language } from './code.ts'

/** The same request as code, as it stands while the form is filled in. */
export function CodePanel({ request }: { request: CreateBrowserRequest }) {
  const { projectId } = useApi()
  const [language, setLanguage] = useState<Language>('TypeScript')
  return (
    <section className="code-panel" aria-label="The same as code">
      <div className="choice" role="group" aria-label="Language">
        {languages.map((each) => (
          <button type="button" key={each} aria-pressed={each === language} onClick={() => setLanguage(each)}>
            {each}
          </button>
        ))}
      </div>
      <Code
        label={`The same in ${language}`}
        text={codeOf(language, { request, origin: location.origin, projectId })}
      />
    </section>
  )
}
