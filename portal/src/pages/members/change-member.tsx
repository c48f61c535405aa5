// A member's name, contact and role.
import { useState } from 'react'
import type { MemberRole } from '#contract/identity/roles.ts'
import { call } from '#console/client/call.ts'
import { changed } from '#console/client/queries.ts'
import { withTouch } from '#console/client/touch.ts'
import { FormDialog } from '#console/parts/forms/form-dialog.tsx'
import type { Member } from './member.ts'
import { MemberFields } from './member-fields.tsx'

export function ChangeMember(props: {
  readonly member: Member
  readonly own: MemberRole
  readonly onClose: () => void
}) {
  const { member, own, onClose } = props
  const [form, setForm] = useState({
    name: member.name,
    contact: member.contact ?? '',
    role: member.role,
  })
  const act = async () => {
    const { name, contact, role } = form
    const body = {
      name,
      contact: contact === '' ? null : contact,
      ...(role !== member.role && { role }),
    }
    await withTouch(() => call('PATCH /v1/members/:member', { path: { member: member.id }, body }))
    await changed('GET /v1/members', 'GET /v1/session')
    onClose()
  }
  return (
    <FormDialog title={`Change ${member.name}`} verb="Change it" act={act} onClose={onClose}>
      <MemberFields texts={form} own={own} onChange={setForm} />
      {form.role !== member.role && (
        <p className="small">Tokens and sign-ins above the new role end at once.</p>
      )}
    </FormDialog>
  )
}
