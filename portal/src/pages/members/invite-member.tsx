// An invitation, or a new code for a member: a link that is shown once and goes to the member by a way that people trust.
import { useState } from 'react'
import type { MemberRole } from '#contract/roles.ts'
import { call } from '../../client/call.ts'
import { changed } from '../../client/queries.ts'
import { withTouch } from '../../client/touch.ts'
import { Choices } from '../../parts/choices.tsx'
import { Command } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { ProblemNote } from '../../parts/loaded.tsx'
import { useAction } from '../../parts/use-action.ts'
import { choicesOf, type Member } from './member.ts'

/** The code is behind the #: no server and no log sees it with the address. */
const linkOf = (code: string): string => `${location.origin}/sign-up#${code}`

export function InviteMember(props: { readonly own: MemberRole; readonly onClose: () => void }) {
  const { own, onClose } = props
  const [form, setForm] = useState({ name: '', contact: '', role: 'developer' as MemberRole })
  const [code, setCode] = useState<string>()
  const action = useAction(async () => {
    const { name, role, contact } = form
    const body = { name, role, ...(contact !== '' && { contact }) }
    const made = await withTouch(() => call('POST /v1/members', { body }))
    setCode(made.invitation_code)
    await changed('GET /v1/members')
  })
  if (code !== undefined) return <Link code={code} name={form.name} onClose={onClose} />
  return (
    <Dialog title="Invite a member" onClose={onClose}>
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
          placeholder="Ada"
          value={form.name}
          error={action.error}
          onChange={({ target }) => setForm({ ...form, name: target.value })}
        />
        <Field
          label="How do you reach them?"
          name="contact"
          maxLength={200}
          hint="For you to remember. Nothing is sent there."
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
        {action.error !== undefined && <ProblemNote error={action.error} />}
        <div className="tools">
          <button type="submit" className="btn primary" disabled={action.isBusy}>
            Make the link
          </button>
          <button type="button" className="btn" onClick={onClose}>
            Not now
          </button>
        </div>
      </form>
    </Dialog>
  )
}

export function Reinvite(props: { readonly member: Member; readonly onClose: () => void }) {
  const { member, onClose } = props
  const [code, setCode] = useState<string>()
  const action = useAction(async () => {
    const path = { member: member.id }
    const made = await withTouch(() =>
      call('POST /v1/members/:member/invitation', { path, body: {} }),
    )
    setCode(made.invitation_code)
    await changed('GET /v1/members')
  })
  if (code !== undefined) return <Link code={code} name={member.name} onClose={onClose} />
  return (
    <Dialog title={`A new code for ${member.name}`} onClose={onClose}>
      <p className="small">
        {member.state === 'invited'
          ? 'The code from before ends.'
          : 'With it the member signs in on a device without a passkey. Everything else stays.'}
      </p>
      {action.error !== undefined && <ProblemNote error={action.error} />}
      <div className="tools">
        <button type="button" className="btn primary" disabled={action.isBusy} onClick={action.run}>
          Make the link
        </button>
        <button type="button" className="btn" onClick={onClose}>
          Not now
        </button>
      </div>
    </Dialog>
  )
}

const Link = (props: {
  readonly code: string
  readonly name: string
  readonly onClose: () => void
}) => (
  <Dialog title={`Give this link to ${props.name}`} onClose={props.onClose}>
    <p className="small">
      It is shown only now, and valid for 7 days. The first person to use it becomes the member, so
      give it by a way that you trust.
    </p>
    <Command text={linkOf(props.code)} label="Link" />
    <div className="tools">
      <button type="button" className="btn primary" onClick={props.onClose}>
        I have it
      </button>
    </div>
  </Dialog>
)
