import { useApi } from '../../api/context.ts'
import { Icon } from '../../parts/Icon.tsx'
import { Page } from '../../parts/Page.tsx'
import { Tabs } from '../../parts/Tabs.tsx'
import { useUrl } from '../../parts/use-url.ts'
import { AuditList } from './AuditList.tsx'
import { ExportForm } from './ExportForm.tsx'
import { ExportList } from './ExportList.tsx'

export function AuditPage() {
  const { power } = useApi()
  const url = useUrl()
  const canCreate = power.can('audit_logs:write') && power.isOrganization
  const isExports = url.text('tab') === 'exports'
  return (
    <Page
      title="Audit log"
      about="Every request that was made with a key, and what became of it."
      isFull
      actions={
        isExports &&
        canCreate && (
          <button type="button" className="primary" onClick={() => url.set({ create: true })}>
            <Icon name="plus" size={16} /> Add a destination
          </button>
        )
      }
    >
      {power.isOrganization ? (
        <Tabs
          label="Audit log"
          tabs={[
            { id: 'search', text: 'Search', render: () => <AuditList /> },
            { id: 'exports', text: 'Export destinations', render: () => <ExportList /> },
          ]}
        />
      ) : (
        <AuditList />
      )}
      {isExports && canCreate && url.has('create') && (
        <ExportForm onClose={() => url.set({ create: undefined })} />
      )}
    </Page>
  )
}
