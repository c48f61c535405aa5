// A member's name, contact and role.
import { useState } from 'react'
import type { MemberRole } from '#contract/roles.ts'
import { call } from '../../client/call.ts'
import { changed } from '../../client/queries.ts'
import { withTouch } from '../../client/touch.ts'
import { Choices } from '../../parts/choices.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { ProblemNote } from '../../parts/loaded.tsx'
import { useAction } from '../../parts/use-action.ts'
import { choicesOf, type Member } from './member.ts'

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
  const action = useAction(async () => {
    const { name, contact, role } = form
    const body = {
      name,
      contact: contact === '' ? null : contact,
      ...(role !== member.role && { role }),
    }
    await withTouch(() => call('PATCH /v1/members/:member', { path: { member: member.id }, body }))
    await changed('GET /v1/members', 'GET /v1/session')
    onClose()
  })
  return (
    <Dialog title={`Change ${member.name}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          action.run()
        }}
      >
        <Field
          label="Name"
          name="name"
          required
          maxLength={200}
          value={form.name}
          error={action.error}
          onChange={({ target }) => setForm({ ...form, name: target.value })}
        />
        <Field
          label="How do you reach them?"
          name="contact"
          maxLength={200}
          value={form.contact}
          error={action.error}
          onChange={({ target }) => setForm({ ...form, contact: target.value })}
        />
        <Choices
          legend="Role"
          value={form.role}
          options={choicesOf(own)}
          onChange={(role) => setForm({ ...form, role })}
        />
        {form.role !== member.role && (
          <p className="small">Tokens and sign-ins above the new role end at once.</p>
        )}
        {action.error !== undefined && <ProblemNote error={action.error} />}
        <div className="tools">
          <button type="submit" className="btn primary" disabled={action.isBusy}>
            Change it
          </button>
          <button type="button" className="btn" onClick={onClose}>
            Not now
          </button>
        </div>
      </form>
    </Dialog>
  )
}
