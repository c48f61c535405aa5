// GET /v1/tokens: the tokens of the account, the newest first.
import { TOKEN_SELECT, tokenRowReply, type TokenReplyRow } from '#accounts/token-reply.ts'
import { idCursor, readListPage } from '#http/list-page.ts'
import { known, type Handler } from '#http/reply.ts'
import { callerOf } from '#identity/principal.ts'
import type { State } from '#state/connect.ts'

const CURSOR = idCursor('tok')

type Deps = { readonly state: State }

export const createTokenList =
  ({ state }: Deps): Handler =>
  async (call) => {
    const caller = callerOf(call)
    const page = readListPage(call.query(), CURSOR.form)
    const { rows } = await state.query<TokenReplyRow>(
      `${TOKEN_SELECT} where t.account = $1 and not t.is_session and t.id < $2 order by t.id desc limit $3`,
      [caller.account, page.cursor?.[0] ?? CURSOR.end, page.rowsMax],
    )
    return known(
      page.list(
        rows,
        (row) => tokenRowReply(row, caller),
        ({ id }) => id,
      ),
    )
  }
