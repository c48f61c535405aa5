// Logins of command lines: begun at the API, approved by a person at the portal, and taken once by the program that has the
// verifier (RFC 7636). Where a browser comes back to that program, it also needs the code of the redirect (RFC 8252).
import { createHash, randomBytes } from 'node:crypto'
import { present } from '#base/errors.ts'
import { takeRandom } from '#base/random.ts'
import { newId } from '#base/ids.ts'
import { fault } from '#contract/errors.ts'
import type { Scope } from '#contract/operation.ts'
import { APPROVAL_MINUTES, LOGIN_INTERVAL_S, type LoginRequest } from '#contract/portal/portal.ts'
import type { Queryable } from '#state/connect.ts'
import { askerText, demandShare, networkAsker } from './waiting.ts'

/** RFC 8628 §6.1: no vowel, so that no code is a word. 20^8 codes. */
const ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ'
const CODE_LENGTH = 8
const REDIRECT_CODE_BYTES = 32

export type LoginRow = {
  readonly id: string
  readonly user_code: string
  readonly code_challenge: string
  readonly redirect_port: number | null
  readonly state: string | null
  readonly name: string
  readonly address: string
  readonly expires_at: Date
  readonly account: string | null
  readonly member: string | null
  /** Asked for by the command line until the approval; then that of the token. */
  readonly scope: Scope | null
  readonly code_hash: Buffer | null
}

/** Throws as demandShare() does. */
export async function beginLogin(
  state: Queryable,
  asked: LoginRequest,
  address: string,
): Promise<LoginRow> {
  const asker = networkAsker(address)
  await demandShare(state, 'logins', asker)
  const { rows } = await state.query<LoginRow>(
    `insert into command_logins (id, user_code, code_challenge, redirect_port, state, name, address, scope, asker, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + interval '${APPROVAL_MINUTES} minutes') returning *`,
    [
      newId('login'),
      mintUserCode(),
      asked.code_challenge,
      asked.redirect_port ?? null,
      asked.state ?? null,
      asked.name,
      address,
      asked.scope ?? null,
      askerText(asker),
    ],
  )
  return present(rows[0], 'an insertion returns its row')
}

/**
 * A login that nobody has approved yet. One with a redirect is found by its id: the page that its command line opened has
 * that. One without is found by the code that the person types, and by nothing that a link can carry (RFC 8628 §5.4).
 * Throws login_not_found.
 */
export async function waitingLogin(state: Queryable, name: string): Promise<LoginRow> {
  const { rows } = await state.query<LoginRow>(
    `select * from command_logins
     where (id = $1 and redirect_port is not null or user_code = $2 and redirect_port is null)
       and member is null and expires_at > now()`,
    [name, userCodeOf(name)],
  )
  if (rows[0] === undefined) throw loginNotFound()
  return rows[0]
}

/** Approves a login; returns where the browser goes now, or null. Throws login_not_found. */
export async function approveLogin(
  transaction: Queryable,
  { id, redirect_port: port, state }: LoginRow,
  by: { readonly account: string; readonly member: string; readonly scope: Scope },
): Promise<string | null> {
  const code = randomBytes(REDIRECT_CODE_BYTES).toString('base64url')
  const { rowCount } = await transaction.query(
    `update command_logins set account = $2, member = $3, scope = $4, code_hash = $5
     where id = $1 and member is null and expires_at > now()`,
    [id, by.account, by.member, by.scope, port === null ? null : sha256(code)],
  )
  if (rowCount === 0) throw loginNotFound()
  if (port === null) return null
  const query = new URLSearchParams({ code, state: state ?? '' })
  return `http://127.0.0.1:${port}/callback?${query}`
}

/**
 * Uses an approved login up: who approved it, and for which scope. Undefined for a wrong verifier or code, which end the
 * login: the caller commits that, and throws loginNotFound(). Throws login_pending, login_not_found.
 */
export async function takeLogin(
  transaction: Queryable,
  id: string,
  { verifier, code }: { readonly verifier: string; readonly code: string | undefined },
): Promise<ApprovedLogin | undefined> {
  const challenge = sha256(verifier).toString('base64url')
  const { rows } = await transaction.query<LoginRow>(
    `delete from command_logins where id = $1 and expires_at > now() and (member is not null or code_challenge <> $2)
     returning *`,
    [id, challenge],
  )
  const [row] = rows
  if (row === undefined) {
    const { rowCount } = await transaction.query(
      'select from command_logins where id = $1 and expires_at > now()',
      [id],
    )
    if (rowCount === 0) throw loginNotFound()
    throw fault('login_pending', 'Could not log in: nobody has approved it yet', {
      retryAfterS: LOGIN_INTERVAL_S,
    })
  }
  const { account, member, scope, code_hash: hash } = row
  const isProven =
    row.code_challenge === challenge &&
    (hash === null || (code !== undefined && hash.equals(sha256(code))))
  if (!isProven || account === null || member === null) return undefined
  return { account, member, scope, name: row.name }
}

export type ApprovedLogin = {
  readonly account: string
  readonly member: string
  readonly scope: Scope | null
  /** The name of the machine. */
  readonly name: string
}

export const loginNotFound = () =>
  fault('login_not_found', 'Could not find the login: it has ended, or it never was')

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

/** People type codes in small letters and with other separators. */
function userCodeOf(text: string): string {
  const letters = text.toUpperCase().replaceAll(/[^A-Z]/g, '')
  return `${letters.slice(0, CODE_LENGTH / 2)}-${letters.slice(CODE_LENGTH / 2)}`
}

function mintUserCode(): string {
  let letters = ''
  // Bytes from 240 on would make the first letters more frequent.
  while (letters.length < CODE_LENGTH) {
    const [byte = 255] = takeRandom(1)
    if (byte < 240) letters += ALPHABET[byte % ALPHABET.length]
  }
  return userCodeOf(letters)
}
