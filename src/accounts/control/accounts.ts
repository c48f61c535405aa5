// Operator operations on accounts, funds and tokens, until the portal exists.
import { fault } from '#contract/errors.ts'
import { SCOPES, type Scope } from '#contract/operation.ts'
import { createAccount, setRefuseTokenPresign } from '#identity/accounts.ts'
import { createToken, revokeToken } from '#identity/tokens.ts'
import type { State } from '#state/connect.ts'
import { textOf, type ControlRoute } from '#node/control/control.ts'

const LOT_PRIORITY = 50

/** The access key of a token, for the tools that sign requests. */
type KeyPairOf = (token: string) => { readonly id: string; readonly secret: string }

export const accountRoutes = (state: State, keyPairOf: KeyPairOf): readonly ControlRoute[] => [
  {
    method: 'GET',
    path: /^\/accounts$/,
    handle: async () =>
      (
        await state.query(
          `select a.id, a.env, a.funded, a.created_at, a.refuse_token_presign, coalesce(w.posted, 0)::text as balance_pusd,
             coalesce(w.reserved, 0)::text as reserved_pusd
           from accounts a left join wallets w on w.id = 'money:' || a.id
           where a.id <> 'nobody' order by a.created_at`,
        )
      ).rows,
  },
  {
    method: 'POST',
    path: /^\/accounts$/,
    members: ['env'],
    handle: async ({ body }) => {
      const env = body['env'] ?? 'test'
      if (env !== 'live' && env !== 'test')
        throw fault('invalid_request', 'Could not make the account: env is "live" or "test"')
      return { id: await state.transaction((transaction) => createAccount(transaction, env)) }
    },
  },
  {
    method: 'POST',
    path: /^\/accounts\/([^/]+)\/funds$/,
    members: ['pusd'],
    handle: ({ parameters: [account = ''], body }) => addFunds(state, account, body),
  },
  {
    method: 'POST',
    path: /^\/accounts\/([^/]+)\/settings$/,
    members: ['refuse_token_presign'],
    handle: ({ parameters: [account = ''], body }) => changeSettings(state, account, body),
  },
  {
    method: 'GET',
    path: /^\/tokens$/,
    handle: async () =>
      (
        await state.query(
          `select id, account, hint, name, scope, created_at, expires_at, revoked_at, exposed_at,
             (select to_at from charges where token = tokens.id order by account_seq desc limit 1) as last_used_at
           from tokens order by created_at`,
        )
      ).rows,
  },
  {
    method: 'POST',
    path: /^\/tokens$/,
    members: ['account', 'scope', 'name', 'expires_days', 'key_pair'],
    handle: async ({ body }) => {
      const { token, ...made } = await mint(state, body)
      if (body['key_pair'] !== true) return { ...made, token }
      // A client that signs with a pair needs no token, and a token that is not shown cannot be lost.
      const { id, secret } = keyPairOf(made.id)
      return { ...made, access_key_id: id, secret_access_key: secret }
    },
  },
  {
    method: 'DELETE',
    path: /^\/tokens\/([^/]+)$/,
    handle: async ({ parameters: [id = ''], signal }) => {
      await revokeToken(state, id, signal)
      return { id, revoked: true }
    },
  },
]

async function addFunds(
  state: State,
  account: string,
  body: Readonly<Record<string, unknown>>,
): Promise<object> {
  const amount = textOf(body, 'pusd')
  if (!/^[1-9]\d{0,20}$/.test(amount))
    throw fault('invalid_request', `Could not add funds: "${amount}" is not a whole number of pUSD`)
  const { rows } = await state.query<{ env: string }>('select env from accounts where id = $1', [
    account,
  ])
  if (rows[0] === undefined)
    throw fault('not_found', `Could not add funds: no account "${account}"`)
  // Money of live accounts comes in by the payment adapters alone.
  if (rows[0].env !== 'test')
    throw fault('not_implemented', 'Could not add funds: a live account is topped up by a payment')
  await state.query("select grant_funds($1, $2, 'test', $3, 'test_funds')", [
    account,
    amount,
    LOT_PRIORITY,
  ])
  return { account, added_pusd: amount, unit: 'tUSD' }
}

async function changeSettings(
  state: State,
  account: string,
  body: Readonly<Record<string, unknown>>,
): Promise<object> {
  const refuses = body['refuse_token_presign']
  if (typeof refuses !== 'boolean')
    throw fault(
      'invalid_request',
      'Could not change the account: refuse_token_presign is true or false',
    )
  await setRefuseTokenPresign(state, account, refuses)
  return { account, refuse_token_presign: refuses }
}

async function mint(
  state: State,
  body: Readonly<Record<string, unknown>>,
): Promise<{ id: string; token: string; account: string; scope: Scope }> {
  const scope = SCOPES.find((known) => known === (body['scope'] ?? 'read'))
  if (scope === undefined)
    throw fault(
      'invalid_request',
      `Could not mint the token: the scope is one of ${SCOPES.join(', ')}`,
    )
  const { rows } = await state.query<{ id: string }>(
    "select id from accounts where id <> 'nobody' and ($1::text is null or id = $1) order by created_at limit 1",
    [body['account'] ?? null],
  )
  const account = rows[0]?.id
  if (account === undefined)
    throw fault('not_found', `Could not mint the token: no account "${String(body['account'])}"`)
  const days = body['expires_days']
  if (days !== undefined && !(typeof days === 'number' && days > 0 && days <= 3650))
    throw fault('invalid_request', 'Could not mint the token: expires_days is 1 to 3650')
  const minted = await createToken(state, {
    account,
    scope,
    name: typeof body['name'] === 'string' ? body['name'].slice(0, 200) : 'from the command line',
    ...(typeof days === 'number' ? { expiresAt: new Date(Date.now() + days * 86_400_000) } : {}),
  })
  return { id: minted.id, token: minted.text, account, scope }
}
