// The buttons that suspend an account, with the reason that its owners read, and that end this.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import type { ReplyOf } from '#console/client/operations.ts'
import { read } from '#console/client/queries.ts'
import { withTouch } from '#console/client/touch.ts'
import { Confirm } from '#console/parts/forms/confirm.tsx'
import { Field } from '#console/parts/forms/field.tsx'
import { FormDialog } from '#console/parts/forms/form-dialog.tsx'
import { accountsChanged } from './use-operator.ts'

type Account = ReplyOf<'GET /v1/operator/accounts'>['data'][number]
type Asked = { readonly account: Account; readonly onClose: () => void }

export function SuspendAccount({ account }: { readonly account: Account }) {
  const [isAsking, setAsking] = useState(false)
  const session = useQuery(read('GET /v1/session', {})).data
  if (account.status === 'deleted' || account.id === session?.account_id) return null
  const isSuspended = account.suspended_for !== null
  const onClose = () => setAsking(false)
  return (
    <>
      <button type="button" className="btn small" onClick={() => setAsking(true)}>
        {isSuspended ? 'Resume' : 'Suspend'}
      </button>
      {isAsking &&
        (isSuspended ? (
          <Resume account={account} onClose={onClose} />
        ) : (
          <Suspend account={account} onClose={onClose} />
        ))}
    </>
  )
}

const Resume = ({ account: { id, name }, onClose }: Asked) => (
  <Confirm
    title={`Resume ${name ?? id}`}
    verb="Resume it"
    onClose={onClose}
    act={async () => {
      const path = { account: id }
      await withTouch(() => call('POST /v1/operator/accounts/:account/resume', { path }))
      await accountsChanged()
    }}
  >
    Its requests are answered again, and its databases wake with the next connection.
  </Confirm>
)

function Suspend({ account: { id, name }, onClose }: Asked) {
  const [reason, setReason] = useState('')
  const act = async () => {
    const request = { path: { account: id }, body: { reason } }
    await withTouch(() => call('POST /v1/operator/accounts/:account/suspend', request))
    await accountsChanged()
    onClose()
  }
  return (
    <FormDialog
      title={`Suspend ${name ?? id}`}
      verb="Suspend it"
      wayOut="Keep it"
      act={act}
      onClose={onClose}
    >
      <p className="small">
        Its requests are refused, and its databases end. Nothing is deleted; stored bytes still
        cost.
      </p>
      <Field
        label="Why?"
        name="reason"
        required
        maxLength={300}
        hint="Its owners read this."
        value={reason}
        onChange={({ target }) => setReason(target.value)}
      />
    </FormDialog>
  )
}
