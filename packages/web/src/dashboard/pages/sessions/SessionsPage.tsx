import { Page } from '../../parts/Page.tsx'

export function SessionsPage() {
  return <Page title="SessionsPage">soon</Page>
}
