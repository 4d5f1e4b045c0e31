import { useState } from 'react'
import type { CreateBrowserRequest } from '@berth/contracts/browsers'
import { useApi } from '../../../api/context.ts'
import { Choice } from '../../../parts/Choice.tsx'
import { Code } from '../../../parts/Copy.tsx'
import { codeOf, languages, type Language } from './code.ts'

const words = Object.fromEntries(languages.map((each) => [each, each])) as Record<Language, string>

/** The same request as code, as it stands while the form is filled in. */
export function CodePanel({ request }: { request: CreateBrowserRequest }) {
  const { projectId } = useApi()
  const [language, setLanguage] = useState<Language>('TypeScript')
  return (
    <section className="code-panel" aria-label="The same as code">
      <Choice label="Language" options={words} value={language} onChange={setLanguage} />
      <Code
        label={`The same in ${language}`}
        text={codeOf(language, { request, origin: location.origin, projectId })}
      />
    </section>
  )
}
