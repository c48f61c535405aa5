// GET /v1/members/{id or me}.
import { askedMemberReply, namedMember } from '#accounts/asked-member.ts'
import { known, type Handler } from '#http/reply.ts'
import type { State } from '#state/connect.ts'

type Deps = { readonly state: State }

export const createMemberGet =
  ({ state }: Deps): Handler =>
  async (call) =>
    known(await askedMemberReply(state, call, namedMember(call)))
