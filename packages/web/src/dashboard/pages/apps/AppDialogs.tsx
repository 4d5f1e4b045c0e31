// What is open over the pages of apps; the address says what.
import { usePower } from '../../api/context.ts'
import { useUrl } from '../../parts/use-url.ts'
import { DeployDialog } from './DeployDialog.tsx'
import { DeploymentDetails } from './DeploymentDetails.tsx'
import { InvocationDetails } from './InvocationDetails.tsx'

export function AppDialogs() {
  const url = useUrl()
  const canWrite = usePower().can('apps:write')
  const [deployment, invocation] = [url.text('deployment'), url.text('invocation')]
  if (invocation !== '') {
    return (
      <InvocationDetails
        key={invocation}
        id={invocation}
        onClose={() => url.set({ invocation: undefined })}
      />
    )
  }
  if (deployment !== '') {
    return (
      <DeploymentDetails
        key={deployment}
        id={deployment}
        onClose={() => url.set({ deployment: undefined })}
      />
    )
  }
  if (url.has('deploy') && canWrite) {
    return (
      <DeployDialog
        onClose={() => url.set({ deploy: undefined })}
        onDeployed={({ id }) => url.set({ deploy: undefined, deployment: id }, { replace: true })}
      />
    )
  }
  return null
}
