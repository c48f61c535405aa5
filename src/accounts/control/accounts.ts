// The operator's operations on accounts, funds and tokens.
import type { ACCOUNTS_CONTROL } from '#contract/accounts/control.ts'
import type { ControlHandlers } from '#contract/control-operation.ts'
import type { ControlAnswer } from '#contract/control.ts'
import type { MemberInvitation } from '#contract/accounts/members.ts'
import { fault } from '#contract/errors.ts'
import type { Scope } from '#contract/operation.ts'
import { once } from '#http/once.ts'
import { operatorKey } from '#http/operator-key.ts'
import { createAccount, setRefuseTokenPresign } from '#identity/accounts.ts'
import { recordOperatorAct } from '#identity/audit.ts'
import { inviteMember } from '#identity/member-changes.ts'
import { firstOwner, lockAccount } from '#identity/members.ts'
import { recordNodeAct } from '#identity/operator-account.ts'
import { changeSuspension } from '#identity/suspensions.ts'
import { createToken, revokeToken } from '#identity/tokens.ts'
import type { Queryable, State } from '#state/connect.ts'

const LOT_PRIORITY = 50
const DAY_MS = 86_400_000

/** The access key of a token, for the tools that sign requests. */
type KeyPairOf = (token: string) => { readonly id: string; readonly secret: string }

export const accountHandlers = (
  state: State,
  keyPairOf: KeyPairOf,
): ControlHandlers<typeof ACCOUNTS_CONTROL> => ({
  'account.list': async () =>
    (
      await state.query<ControlAnswer<'account.list'>[number]>(
        `select a.id, a.env, a.funded, a.created_at, a.refuse_token_presign, coalesce(w.posted, 0)::text as balance_pusd,
           coalesce(w.reserved - w.kept, 0)::text as reserved_pusd,
           case when d.done_at is not null then 'deleted' when d.account is not null then 'deleting'
             when s.account is not null then 'suspended' else 'active' end as status
         from accounts a left join wallets w on w.id = 'money:' || a.id left join account_deletions d on d.account = a.id
           left join account_suspensions s on s.account = a.id
         where a.id <> 'nobody' order by a.created_at`,
      )
    ).rows,
  'account.create': async ({ env }) => ({
    id: await state.transaction((transaction) => createAccount(transaction, env)),
  }),
  'account.set': async ({ account, refuse_token_presign: refuses }) => {
    await setRefuseTokenPresign(state, account, refuses)
    return { account, refuse_token_presign: refuses }
  },
  'account.suspend': async ({ account, reason }, { signal }) => {
    await changeSuspension(state, { account, reason }, signal, (transaction) =>
      recordNodeAct(transaction, {
        action: 'account.suspend',
        target: account,
        details: { reason },
      }),
    )
    return { account, suspended: true }
  },
  'account.resume': async ({ account }, { signal }) => {
    await changeSuspension(state, { account, reason: undefined }, signal, (transaction) =>
      recordNodeAct(transaction, { action: 'account.resume', target: account, details: {} }),
    )
    return { account, suspended: false }
  },
  'funds.add': (asked) => addFunds(state, asked),
  'member.invite': (asked) => invite(state, asked),
  'token.list': async () =>
    (
      await state.query<ControlAnswer<'token.list'>[number]>(
        `select id, account, member, hint, name, scope, created_at, expires_at, revoked_at, exposed_at,
           token_last_used(id) as last_used_at
         from tokens where not is_session order by created_at`,
      )
    ).rows,
  'token.create': (asked) => mint(state, asked),
  // A client that signs with a pair needs no token, and a token that is not shown cannot be lost.
  'token.create-pair': async (asked) => {
    const { token: _, ...made } = await mint(state, asked)
    const { id, secret } = keyPairOf(made.id)
    return { ...made, access_key_id: id, secret_access_key: secret }
  },
  'token.revoke': async ({ token }, { signal }) => {
    await revokeToken(state, token, signal)
    return { id: token, revoked: true }
  },
})

/** Throws account_deleting: an account that is removed gets nothing new. */
async function demandNotRemoved(transaction: Queryable, account: string): Promise<void> {
  const { rowCount } = await transaction.query(
    'select from account_deletions where account = $1 and begun_at is not null',
    [account],
  )
  if (rowCount > 0)
    throw fault(
      'account_deleting',
      `Could not change the account "${account}": it is being deleted`,
    )
}

type FundsToAdd = {
  readonly account: string
  readonly pusd: string
  readonly idempotency_key?: string | undefined
}

async function addFunds(state: State, asked: FundsToAdd) {
  const { account, pusd } = asked
  return await once(await operatorKey(state, 'funds.add', asked), state, async () => {
    await demandTestAccount(state, account)
    return async (transaction) => {
      await demandNotRemoved(transaction, account)
      const details = { amount_pusd: pusd, unit: 'tUSD' }
      const act = { action: 'funds.add', target: account, details }
      await recordOperatorAct(transaction, account, act)
      await transaction.query("select grant_funds($1, $2, 'test', $3, 'test_funds')", [
        account,
        pusd,
        LOT_PRIORITY,
      ])
      return { account, added_pusd: pusd, unit: 'tUSD' as const }
    }
  })
}

/** Throws not_found, not_implemented: money of live accounts comes in by the payment adapters alone. */
async function demandTestAccount(state: State, account: string): Promise<void> {
  const { rows } = await state.query<{ env: string }>('select env from accounts where id = $1', [
    account,
  ])
  if (rows[0] === undefined)
    throw fault('not_found', `Could not add funds: no account "${account}"`)
  if (rows[0].env !== 'test')
    throw fault('not_implemented', 'Could not add funds: a live account is topped up by a payment')
}

/** Invites a member, beyond the limits of an account too: it may be the only way back into it. */
async function invite(state: State, asked: MemberInvitation & { readonly account: string }) {
  const { account, expires_days: days, ...values } = asked
  return await state.transaction(async (transaction) => {
    await lockAccount(transaction, account)
    const { rowCount } = await transaction.query(
      "select from accounts where id = $1 and id <> 'nobody'",
      [account],
    )
    if (rowCount === 0)
      throw fault('not_found', `Could not invite the member: no account "${account}"`)
    await demandNotRemoved(transaction, account)
    const { id, code } = await inviteMember(transaction, { account, days, ...values })
    const act = { action: 'member.invite', target: id, details: { ...values, expires_days: days } }
    await recordOperatorAct(transaction, account, act)
    return { id, account, invitation_code: code }
  })
}

type NewToken = {
  readonly account?: string | undefined
  readonly scope: Scope
  readonly name: string
  readonly expires_days?: number | undefined
}

async function mint(state: State, { scope, name, expires_days: days, ...asked }: NewToken) {
  const { rows } = await state.query<{ id: string }>(
    `select id from accounts where id <> 'nobody' and ($1::text is null or id = $1)
       and (id = $1 or not exists (select from account_deletions d where d.account = accounts.id))
     order by created_at limit 1`,
    [asked.account ?? null],
  )
  const account = rows[0]?.id
  if (account === undefined)
    throw fault('not_found', `Could not mint the token: no account "${asked.account}"`)
  const expiry = days === undefined ? {} : { expiresAt: new Date(Date.now() + days * DAY_MS) }
  const minted = await state.transaction(async (transaction) => {
    await lockAccount(transaction, account)
    const member = await firstOwner(transaction, account)
    const made = await createToken(transaction, { account, member, scope, name, ...expiry })
    const details = { name, scope, expires_at: expiry.expiresAt?.toISOString() ?? null }
    const act = { action: 'token.create', target: made.id, details }
    await recordOperatorAct(transaction, account, act)
    return made
  })
  return { id: minted.id, token: minted.text, account, scope }
}
