// Recovery codes: ten of a member, each lets in once. Only their hashes are kept: 100 random bits need no slow hash.
import { createHash } from 'node:crypto'
import { takeRandom } from '#base/random.ts'
import { fault } from '#contract/errors.ts'
import { RECOVERY_CODES } from '#contract/portal/portal.ts'
import { lockAccount } from '#identity/members.ts'
import type { Queryable } from '#state/connect.ts'

/** Crockford's base32: no letter that looks like another one. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const GROUPS = 4
const GROUP = 5

type CodeOwner = { readonly id: string; readonly account: string }

/** Makes codes in place of all earlier ones. They are returned here and nowhere else. */
export async function renewRecoveryCodes(
  transaction: Queryable,
  { id, account }: CodeOwner,
): Promise<readonly string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, mintCode)
  await transaction.query('delete from recovery_codes where member = $1', [id])
  await transaction.query(
    'insert into recovery_codes (hash, account, member) select unnest($1::bytea[]), $2, $3',
    [codes.map(hashOf), account, id],
  )
  return codes
}

/** Codes of a member that were not used. */
export async function recoveryCodesLeft(state: Queryable, member: string): Promise<number> {
  const { rows } = await state.query<{ left: number }>(
    'select count(*)::int as left from recovery_codes where member = $1 and used_at is null',
    [member],
  )
  return rows[0]?.left ?? 0
}

/** Uses a code up and locks the account of its member. Throws recovery_code_refused. */
export async function useRecoveryCode(transaction: Queryable, code: string): Promise<CodeOwner> {
  const hash = hashOf(code)
  const { rows } = await transaction.query<CodeOwner>(
    'select member as id, account from recovery_codes where hash = $1',
    [hash],
  )
  const [member] = rows
  if (member !== undefined) await lockAccount(transaction, member.account)
  const { rowCount } = await transaction.query(
    'update recovery_codes set used_at = now() where hash = $1 and used_at is null',
    [hash],
  )
  if (member === undefined || rowCount === 0)
    throw fault('recovery_code_refused', 'Could not sign in: no such recovery code, or used')
  return member
}

function mintCode(): string {
  const letters = [...takeRandom(GROUPS * GROUP)].map((byte) => ALPHABET[byte & 31])
  return Array.from({ length: GROUPS }, (_, group) =>
    letters.slice(group * GROUP, (group + 1) * GROUP).join(''),
  ).join('-')
}

/** People type codes in capitals, with other separators, and with letters that look alike. */
const hashOf = (code: string): Buffer =>
  createHash('sha256')
    .update(
      code
        .toLowerCase()
        .replaceAll(/[^0-9a-z]/g, '')
        .replaceAll('o', '0')
        .replaceAll(/[il]/g, '1'),
    )
    .digest()
