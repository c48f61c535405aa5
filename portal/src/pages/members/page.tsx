// Members: who may what.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { read, readPages, rowsOf } from '#console/client/queries.ts'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { MoreRows } from '#console/parts/page/more-rows.tsx'
import { Head } from '#console/shell/head.tsx'
import { InviteMember } from './invite-member.tsx'
import { mayInvite } from './member.ts'
import { MemberTable } from './member-table.tsx'

export function Page() {
  const query = useInfiniteQuery(readPages('GET /v1/members', {}))
  const session = useQuery(read('GET /v1/session', {}))
  const [isInviting, setInviting] = useState(false)
  const own = session.data?.member.role
  return (
    <>
      <Head title="Members">
        {own !== undefined && mayInvite(own) && (
          <button type="button" className="btn primary" onClick={() => setInviting(true)}>
            Invite
          </button>
        )}
      </Head>
      {isInviting && own !== undefined && (
        <InviteMember own={own} onClose={() => setInviting(false)} />
      )}
      {own !== undefined && !mayInvite(own) && (
        <p className="small">You are {own}: owners and admins invite and change members.</p>
      )}
      <Loaded query={query} what="the list of members">
        {() => <MemberTable members={rowsOf(query.data)} own={own} />}
      </Loaded>
      <MoreRows query={query} label="Older members" />
    </>
  )
}
