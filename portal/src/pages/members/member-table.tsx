// The members in a table: those who were removed are below, without actions.
import { useState } from 'react'
import type { MemberRole } from '#contract/roles.ts'
import { StateWord } from '../../parts/state-word.tsx'
import { When } from '../../parts/when.tsx'
import { useNow } from '../../parts/zone.ts'
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
  return (
    <>
      <table>
        <thead>
          <tr>
            <th scope="col">Member</th>
            <th scope="col" className="wide-only">
              Role
            </th>
            <th scope="col" className="wide-only">
              State
            </th>
            <th scope="col" className="wide-only">
              Since
            </th>
            <th scope="col">
              <span className="spoken">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((member) => (
            <MemberRow
              key={member.id}
              member={member}
              own={own}
              onDo={(what) => setDoing({ what, member })}
            />
          ))}
        </tbody>
      </table>
      {doing?.what === 'change' && own !== undefined && (
        <ChangeMember member={doing.member} own={own} onClose={stop} />
      )}
      {doing?.what === 'remove' && <RemoveMember member={doing.member} onClose={stop} />}
      {doing?.what === 'reinvite' && <Reinvite member={doing.member} onClose={stop} />}
    </>
  )
}

function MemberRow(props: {
  readonly member: Member
  readonly own: MemberRole | undefined
  readonly onDo: (what: Doing['what']) => void
}) {
  const { member, own, onDo } = props
  const { name, contact, role, current, joined_at, created_at } = member
  const state = stateOf(member, useNow('minute'))
  const isChangeable = own !== undefined && mayChange(own, member)
  return (
    <tr data-row>
      <td className="wrap-anywhere">
        <b>{name}</b> {current && <span className="muted">you</span>}
        {contact !== null && <span className="tiny"> {contact}</span>}
        <span className="under">
          {role}, {state.word}
        </span>
      </td>
      <td className="wide-only">{role}</td>
      <td className="wide-only">
        <StateWord {...state} />
      </td>
      <td className="wide-only">
        <When at={joined_at ?? created_at} />
      </td>
      <td>
        {isChangeable && (
          <div className="tools">
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
          </div>
        )}
      </td>
    </tr>
  )
}
