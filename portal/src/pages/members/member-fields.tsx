// What a member is asked: name, contact and role.
import type { MemberRole } from '#contract/identity/roles.ts'
import { Choices } from '#console/parts/forms/choices.tsx'
import { Field } from '#console/parts/forms/field.tsx'
import { choicesOf } from './member.ts'

export type MemberTexts = {
  readonly name: string
  readonly contact: string
  readonly role: MemberRole
}

export function MemberFields(props: {
  readonly texts: MemberTexts
  readonly own: MemberRole
  readonly onChange: (texts: MemberTexts) => void
}) {
  const { texts, own, onChange } = props
  return (
    <>
      <Field
        label="Name"
        name="name"
        required
        maxLength={200}
        placeholder="Ada"
        value={texts.name}
        onChange={({ target }) => onChange({ ...texts, name: target.value })}
      />
      <Field
        label="How do you reach them?"
        name="contact"
        maxLength={200}
        hint="For you to remember. Nothing is sent there."
        value={texts.contact}
        onChange={({ target }) => onChange({ ...texts, contact: target.value })}
      />
      <Choices
        legend="Role"
        value={texts.role}
        options={choicesOf(own)}
        onChange={(role) => onChange({ ...texts, role })}
      />
    </>
  )
}
