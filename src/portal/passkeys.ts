// The passkeys of members, as the state has them.
import { newId } from '#base/ids.ts'
import { fault } from '#contract/errors.ts'
import { PASSKEYS_MAX, type Assertion, type PasskeyReply } from '#contract/portal/portal.ts'
import type { Queryable } from '#state/connect.ts'
import type { StoredPasskey, WebAuthn } from './webauthn.ts'

export type PasskeyRow = {
  readonly id: string
  readonly credential: string
  readonly transports: readonly string[]
  readonly is_synced: boolean
  readonly name: string
  readonly created_at: Date
  readonly last_used_at: Date | null
}

const COLUMNS = 'id, credential, transports, is_synced, name, created_at, last_used_at'

export const passkeyReplyOf = (row: PasskeyRow): PasskeyReply => ({
  id: row.id,
  object: 'passkey',
  name: row.name,
  synced: row.is_synced,
  created_at: row.created_at.toISOString(),
  last_used_at: row.last_used_at?.toISOString() ?? null,
})

/** The passkeys of a member, the oldest first. */
export async function passkeysOf(state: Queryable, member: string): Promise<readonly PasskeyRow[]> {
  const { rows } = await state.query<PasskeyRow>(
    `select ${COLUMNS} from passkeys where member = $1 order by id limit ${PASSKEYS_MAX}`,
    [member],
  )
  return rows
}

/** Throws too_many_passkeys. */
export function demandPasskeyRoom(known: readonly PasskeyRow[]): void {
  if (known.length >= PASSKEYS_MAX)
    throw fault(
      'too_many_passkeys',
      `Could not add a passkey: a member has at most ${PASSKEYS_MAX}`,
    )
}

/** Keeps a passkey; the caller has locked the account. Throws too_many_passkeys, passkey_exists. */
export async function addPasskey(
  transaction: Queryable,
  member: { readonly id: string; readonly account: string },
  { name, ...passkey }: StoredPasskey & { readonly name: string },
): Promise<PasskeyRow> {
  demandPasskeyRoom(await passkeysOf(transaction, member.id))
  const { rows } = await transaction.query<PasskeyRow>(
    `insert into passkeys (id, account, member, credential, public_key, counter, transports, is_synced, name)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (credential) do nothing returning ${COLUMNS}`,
    [
      newId('passkey'),
      member.account,
      member.id,
      passkey.credential,
      Buffer.from(passkey.publicKey),
      passkey.counter,
      passkey.transports,
      passkey.isSynced,
      name,
    ],
  )
  if (rows[0] === undefined)
    throw fault('passkey_exists', 'Could not add the passkey: it is known already')
  return rows[0]
}

export type PasskeyMember = {
  readonly passkey: string
  readonly id: string
  readonly account: string
}

/**
 * The active member whose passkey has signed; writes the use down. An unknown passkey and a wrong signature have one
 * refusal. Throws passkey_refused.
 */
export async function memberOfAssertion(
  state: Queryable,
  webauthn: WebAuthn,
  { response, challenge }: { readonly response: Assertion; readonly challenge: string },
): Promise<PasskeyMember> {
  const { rows } = await state.query<StoredRow>(
    `select p.id as passkey, p.credential, p.transports, p.public_key, p.counter::float8, m.id, m.account
     from passkeys p join members m on m.id = p.member where p.credential = $1 and m.state = 'active'`,
    [response.id],
  )
  const [row] = rows
  if (row === undefined) throw unknown()
  const { userHandle } = response.response
  if (userHandle !== undefined && Buffer.from(userHandle, 'base64url').toString() !== row.id)
    throw unknown()
  const counter = await webauthn.verifyAssertion(
    response,
    { ...row, publicKey: row.public_key },
    challenge,
  )
  // Two answers with one count: the authenticator was copied, or an answer came twice.
  const { rowCount } = await state.query(
    `update passkeys set counter = $2, last_used_at = now()
     where id = $1 and (counter < $2 or (counter = 0 and $2 = 0))`,
    [row.passkey, counter],
  )
  if (rowCount === 0) throw unknown()
  return row
}

type StoredRow = PasskeyMember & {
  readonly credential: string
  readonly transports: readonly string[]
  readonly public_key: Buffer
  readonly counter: number
}

const unknown = () => fault('passkey_refused', 'Could not accept the passkey: it is not known')

/** Throws passkey_not_found. */
export function ownPasskey(owned: readonly PasskeyRow[], id: string): PasskeyRow {
  const found = owned.find((one) => one.id === id)
  if (found === undefined)
    throw fault('passkey_not_found', `Could not find the passkey: "${id.slice(0, 100)}"`)
  return found
}
