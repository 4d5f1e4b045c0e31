import { Page } from '../../parts/Page.tsx'

export function SessionPage() {
  return <Page title="SessionPage">soon</Page>
}
