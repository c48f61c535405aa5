// Calls of the API of members, as the tests make them, against the shared product.
import { acceptedReply, invitedReply } from '#contract/accounts/members.ts'
import type { MemberRole } from '#contract/identity/roles.ts'
import { newTokenReply } from '#contract/identity/tokens.ts'
import { sharedErgon } from '../product.ts'

export const call = (token: string | undefined, path: string, method = 'GET', body?: object) =>
  fetch(`${sharedErgon().baseUrl}/v1/${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

export async function problemOf(answer: Response): Promise<[number, string]> {
  const { title } = (await answer.json()) as { title: string }
  return [answer.status, title]
}

/** A new account with the token of its owner. */
export async function newAccount() {
  const { id: account } = await sharedErgon().control('account.create', {})
  const { token } = await sharedErgon().control('token.create', { account, scope: 'billing-admin' })
  return { account, owner: token }
}

export const invite = async (token: string, body: object) =>
  invitedReply.parse(await (await call(token, 'members', 'POST', { name: 'new', ...body })).json())

export const accept = (code: string) => call(undefined, 'members/accept', 'POST', { code })

/** A member that has accepted, with its first token. */
export async function join(owner: string, role: MemberRole) {
  const { invitation_code: code } = await invite(owner, { role, name: role })
  const { id, first_token: first } = acceptedReply.parse(await (await accept(code)).json())
  return { id, token: first.token, tokenId: first.id, scope: first.scope }
}

export const mint = async (token: string, body: object) =>
  newTokenReply.parse(await (await call(token, 'tokens', 'POST', { name: 'more', ...body })).json())

export const statusOf = async (token: string) => (await call(token, 'members/me')).status

export const rolesOf = async (account: string) =>
  (
    await sharedErgon().sql<{ role: string }>(
      `select role from members where account = $1 and state = 'active' order by role`,
      [account],
    )
  ).map(({ role }) => role)
