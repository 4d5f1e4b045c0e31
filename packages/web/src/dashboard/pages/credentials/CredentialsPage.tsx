import { useApi } from '../../api/context.ts'
import { Icon } from '../../parts/Icon.tsx'
import { Page } from '../../parts/Page.tsx'
import { Tabs } from '../../parts/Tabs.tsx'
import { useUrl } from '../../parts/use-url.ts'
import { CreateCredential } from './CreateCredential.tsx'
import { CredentialDetails } from './CredentialDetails.tsx'
import { CredentialList } from './CredentialList.tsx'
import { ProviderDetails } from './ProviderDetails.tsx'
import { ProviderForm } from './ProviderForm.tsx'
import { ProviderList } from './ProviderList.tsx'

export function CredentialsPage() {
  const { power } = useApi()
  const url = useUrl()
  const isProviders = url.text('tab') === 'providers'
  const canWrite = power.can('credentials:write')
  const canCreate = canWrite && (!isProviders || power.isOrganization)
  const open = url.text('open')
  const close = () => url.set({ open: undefined, create: undefined })
  return (
    <Page
      title="Credentials"
      about="What logins fill in. Values are stored encrypted and never shown again."
      isFull
      actions={
        canCreate && (
          <button type="button" className="primary" onClick={() => url.set({ create: true })}>
            <Icon name="plus" size={16} /> {isProviders ? 'Add a provider' : 'Create a credential'}
          </button>
        )
      }
    >
      <Tabs
        label="Kind"
        tabs={[
          { id: 'credentials', text: 'Credentials', render: () => <CredentialList /> },
          { id: 'providers', text: 'Providers', render: () => <ProviderList /> },
        ]}
      />
      {url.has('create') &&
        canCreate &&
        (isProviders ? <ProviderForm onClose={close} /> : <CreateCredential onClose={close} />)}
      {open !== '' &&
        (isProviders ? (
          <ProviderDetails id={open} onClose={close} />
        ) : (
          <CredentialDetails id={open} onClose={close} />
        ))}
    </Page>
  )
}
