// GET /v1/members: the members of the account, the newest first.
import { memberReplyOf } from '#accounts/asked-member.ts'
import { idCursor, readListPage } from '#http/list-page.ts'
import { known, type Handler } from '#http/reply.ts'
import { MEMBER_COLUMNS, type AccountMember } from '#identity/members.ts'
import { callerOf } from '#identity/principal.ts'
import type { State } from '#state/connect.ts'

const CURSOR = idCursor('mem')

type Deps = { readonly state: State }

export const createMemberList =
  ({ state }: Deps): Handler =>
  async (call) => {
    const { account, member } = callerOf(call)
    const page = readListPage(call.query(), CURSOR.form)
    const { rows } = await state.query<AccountMember>(
      `select ${MEMBER_COLUMNS} from members where account = $1 and id < $2 order by id desc limit $3`,
      [account, page.cursor?.[0] ?? CURSOR.end, page.rowsMax],
    )
    return known(
      page.list(
        rows,
        (row) => memberReplyOf(row, member),
        ({ id }) => id,
      ),
    )
  }
