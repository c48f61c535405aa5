// The end of a running deployment by its account.
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { Confirm } from '#console/parts/forms/confirm.tsx'
import type { Deployment } from './deployment.ts'
import { deploymentsChanged } from './use-deployments.ts'

export function Cancel({ one: { id, stack } }: { readonly one: Pick<Deployment, 'id' | 'stack'> }) {
  const [isAsked, setAsked] = useState(false)
  return (
    <>
      <button type="button" className="btn" onClick={() => setAsked(true)}>
        Cancel
      </button>
      {isAsked && (
        <Confirm
          title={`Cancel the deployment of ${stack}`}
          verb="Cancel it"
          onClose={() => setAsked(false)}
          act={async () => {
            await call('DELETE /v1/deployments/:deployment', { path: { deployment: id } })
            await deploymentsChanged()
          }}
        >
          No further step begins. What is done stays, and a change that is made already goes on.
        </Confirm>
      )}
    </>
  )
}
