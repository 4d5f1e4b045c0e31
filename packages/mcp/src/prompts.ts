// Prompts of the reference, for this server.
interface ListedPrompt {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly arguments?: { name: string; description: string; required?: boolean }[]
  readonly run: (args: Readonly<Record<string, string>>) => string
}

const concepts: Readonly<Record<string, string>> = {
  browsers: `A session is a browser in a sandbox of its own. manage_browsers creates one; give it a name. It lives on when you disconnect, and ends when it is deleted or nobody has used it for timeout_seconds. A profile (profile_name) brings cookies and logins, and keeps them with save_profile_changes or with manage_profiles, action save. browser_snapshot reads a page; browser_click, browser_type and the others act on the references that it shows. hand_over_to_human asks a person.`,
  apps: `An app is code of yours that runs beside its browsers. manage_apps lists apps with their actions; invoke starts an action and answers with an id; get_invocation shows its result.`,
}

export const prompts: readonly ListedPrompt[] = [
  {
    name: 'kernel-concepts',
    title: 'Concepts',
    description: 'Explains sessions, profiles and apps',
    arguments: [{ name: 'concept', description: 'browsers, apps or overview' }],
    run: ({ concept = 'overview' }) => concepts[concept] ?? Object.values(concepts).join('\n\n'),
  },
  {
    name: 'debug-browser-session',
    title: 'Find out why a session misbehaves',
    description: 'Steps to find the cause of a problem in a session',
    arguments: [
      { name: 'session_id', description: 'Name or id of the session', required: true },
      { name: 'issue_description', description: 'What is wrong' },
    ],
    run: ({ session_id: id = '', issue_description: issue = 'not described' }) =>
      `Find out what is wrong with the browser session "${id}". The problem: ${issue}.
1. manage_browsers, action get: does it run, and if not, what is its end_reason?
2. browser_take_screenshot and browser_snapshot: what does the page show?
3. browser_console_messages with level error, and browser_network_requests with status failed, 4xx and 5xx: what went wrong?
4. manage_browsers, action get_telemetry with categories system and page: has the browser or a page crashed?
Then say what the cause is, and what to do.`,
  },
]
