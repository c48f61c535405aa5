// An invitation, or a new code for a member: a link that is shown once and goes to the member by a way that people trust.
import { useState } from 'react'
import type { MemberRole } from '#contract/identity/roles.ts'
import { call } from '#console/client/call.ts'
import { changed } from '#console/client/queries.ts'
import { withTouch } from '#console/client/touch.ts'
import { FormDialog } from '#console/parts/forms/form-dialog.tsx'
import { Secret } from '#console/parts/forms/secret.tsx'
import type { Member } from './member.ts'
import { MemberFields, type MemberTexts } from './member-fields.tsx'

const NOBODY: MemberTexts = { name: '', contact: '', role: 'developer' }

/** The code is behind the #: no server and no log sees it with the address. */
const linkOf = (code: string): string => `${location.origin}/sign-up#${code}`

export function InviteMember(props: { readonly own: MemberRole; readonly onClose: () => void }) {
  const { own, onClose } = props
  const [form, setForm] = useState<MemberTexts>(NOBODY)
  const [code, setCode] = useState<string>()
  const act = async () => {
    const { name, role, contact } = form
    const body = { name, role, ...(contact !== '' && { contact }) }
    const made = await withTouch(() => call('POST /v1/members', { body }))
    setCode(made.invitation_code)
    await changed('GET /v1/members')
  }
  if (code !== undefined) return <Link code={code} name={form.name} onClose={onClose} />
  return (
    <FormDialog title="Invite a member" verb="Make the link" act={act} onClose={onClose}>
      <MemberFields texts={form} own={own} onChange={setForm} />
    </FormDialog>
  )
}

export function Reinvite(props: { readonly member: Member; readonly onClose: () => void }) {
  const { member, onClose } = props
  const [code, setCode] = useState<string>()
  const act = async () => {
    const path = { member: member.id }
    const made = await withTouch(() =>
      call('POST /v1/members/:member/invitation', { path, body: {} }),
    )
    setCode(made.invitation_code)
    await changed('GET /v1/members')
  }
  if (code !== undefined) return <Link code={code} name={member.name} onClose={onClose} />
  return (
    <FormDialog
      title={`A new code for ${member.name}`}
      verb="Make the link"
      act={act}
      onClose={onClose}
    >
      <p className="small">
        {member.state === 'invited'
          ? 'The code from before ends.'
          : 'With it the member signs in on a device without a passkey. Everything else stays.'}
      </p>
    </FormDialog>
  )
}

const Link = (props: {
  readonly code: string
  readonly name: string
  readonly onClose: () => void
}) => (
  <Secret
    title={`Give this link to ${props.name}`}
    what="Link"
    secret={linkOf(props.code)}
    onClose={props.onClose}
  >
    It is shown only now, and valid for 7 days. The first person to use it becomes the member, so
    give it by a way that you trust.
  </Secret>
)
