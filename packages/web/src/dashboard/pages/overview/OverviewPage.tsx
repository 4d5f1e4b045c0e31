import { Page } from '../../parts/Page.tsx'

export function OverviewPage() {
  return <Page title="OverviewPage">soon</Page>
}
