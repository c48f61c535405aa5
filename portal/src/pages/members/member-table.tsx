// The members in a table: those who were removed are below, without actions.
import { useState } from 'react'
import type { MemberRole } from '#contract/identity/roles.ts'
import { StateWord } from '#console/parts/page/state-word.tsx'
import { actions, Table, type Column } from '#console/parts/page/table.tsx'
import { When } from '#console/parts/time/when.tsx'
import { useNow } from '#console/parts/time/zone.ts'
import { ChangeMember } from './change-member.tsx'
import { RemoveMember } from './remove-member.tsx'
import { Reinvite } from './invite-member.tsx'
import { mayChange, stateOf, type Member } from './member.ts'

type Doing = { readonly what: 'change' | 'remove' | 'reinvite'; readonly member: Member }

export function MemberTable(props: {
  readonly members: readonly Member[]
  readonly own: MemberRole | undefined
}) {
  const { members, own } = props
  const [doing, setDoing] = useState<Doing>()
  const stop = () => setDoing(undefined)
  const isThere = ({ state }: Member) => state !== 'removed'
  const sorted = [...members.filter(isThere), ...members.filter((member) => !isThere(member))]
  const buttons = actions((member: Member) =>
    own !== undefined && mayChange(own, member) ? (
      <Buttons current={member.current} onDo={(what) => setDoing({ what, member })} />
    ) : null,
  )
  return (
    <>
      <Table rows={sorted} keyOf={({ id }) => id} columns={[...FACTS, buttons]} />
      {doing?.what === 'change' && own !== undefined && (
        <ChangeMember member={doing.member} own={own} onClose={stop} />
      )}
      {doing?.what === 'remove' && <RemoveMember member={doing.member} onClose={stop} />}
      {doing?.what === 'reinvite' && <Reinvite member={doing.member} onClose={stop} />}
    </>
  )
}

type ButtonsProps = { readonly current: boolean; readonly onDo: (what: Doing['what']) => void }

const Buttons = ({ current, onDo }: ButtonsProps) => (
  <>
    {!current && (
      <button type="button" className="btn small" onClick={() => onDo('reinvite')}>
        New code
      </button>
    )}
    <button type="button" className="btn small" onClick={() => onDo('change')}>
      Change
    </button>
    <button type="button" className="btn small danger" onClick={() => onDo('remove')}>
      {current ? 'Leave' : 'Remove'}
    </button>
  </>
)

const FACTS: readonly Column<Member>[] = [
  {
    title: 'Member',
    className: 'wrap-anywhere',
    cell: (member) => (
      <>
        <b>{member.name}</b> {member.current && <span className="muted">you</span>}
        {member.contact !== null && <span className="tiny"> {member.contact}</span>}
        <span className="under">
          {member.role}, {stateOf(member, new Date()).word}
        </span>
      </>
    ),
  },
  { title: 'Role', className: 'wide-only', cell: ({ role }) => role },
  { title: 'State', className: 'wide-only', cell: (member) => <State member={member} /> },
  {
    title: 'Since',
    className: 'wide-only',
    cell: ({ joined_at, created_at }) => <When at={joined_at ?? created_at} />,
  },
]

const State = ({ member }: { readonly member: Member }) => (
  <StateWord {...stateOf(member, useNow('minute'))} />
)
