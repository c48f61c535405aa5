// Lookups of the accounts product: receipts, tokens and members.
import type { Lookups } from '#http/gateway-part.ts'
import { findNamed } from '#http/find-named.ts'
import { findBundled } from '#ledger/bundles/bundled-charge.ts'
import type { Queryable } from '#state/connect.ts'

export function accountLookups(state: Queryable): Lookups {
  const charge = {
    kind: 'receipt',
    async find(account: string, named: string) {
      const id = named.replace(/^req_/, 'rcpt_')
      const { rows } = await state.query<{ operation: string }>(
        'select operation from charges where id = $1 and account = $2',
        [id, account],
      )
      const name = rows[0]?.operation ?? (await findBundled(state, id, [account]))?.operation
      return name === undefined ? undefined : { id, name, path: `/v1/receipts/${id}` }
    },
  }
  return {
    rcpt: charge,
    req: charge,
    tok: {
      kind: 'token',
      find: findNamed(
        state,
        `select name, '/v1/tokens' as path from tokens where account = $1 and id = $2`,
      ),
    },
    mem: {
      kind: 'member',
      find: findNamed(
        state,
        `select name, '/v1/members/' || id as path from members where account = $1 and id = $2`,
      ),
    },
    // The number keeps its own type: a comparison of numeric or text would read all transfers.
    tr: {
      kind: 'transfer',
      find: findNamed(
        state,
        `select kind as name, '/v1/ledger?id=' || $2 as path from transfers
         where id = case when $2 ~ '^tr_[1-9][0-9]{0,17}$' then substr($2, 4)::bigint end
           and 'money:' || $1 in (debit, credit)`,
      ),
    },
  }
}
