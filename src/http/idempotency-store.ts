// The table of idempotency keys: claimed in one statement, answered in one, forgotten after a day. The work of a request
// is noted in the transaction that begins it.
import type { Queryable } from '#state/connect.ts'
import type { ReplyHeaders } from './reply.ts'

/** A key is its token's own, or the operator's, and that of one path. */
export type KeyName = { readonly token: string; readonly path: string; readonly key: string }
export type KeyClaim = KeyName & {
  readonly fingerprint: Buffer
  /** Null: no session holds the key, so a later request has it. */
  readonly session: string | null
  readonly request: string
}
export type StoredAnswer = {
  readonly receipt: string
  readonly status: number
  readonly headers: ReplyHeaders
  readonly contentType: string
  /** undefined: it was too large to keep. */
  readonly body: Uint8Array | undefined
}
export type Claimed =
  | { readonly kind: 'running' }
  | { readonly kind: 'reused' }
  | { readonly kind: 'mine'; readonly begun: unknown }
  | { readonly kind: 'answered'; readonly answer: StoredAnswer }

type Row = {
  mine: boolean
  begun: unknown
  fingerprint: Buffer | null
  receipt: string
  status: number | null
  headers: ReplyHeaders
  content_type: string
  body: Buffer | null
}

/**
 * Takes the key, unless another request holds it: one that is under way, or was answered within a day. A request of
 * a session that has ended, or older than any deadline, holds its key no longer. Work that such a request began is
 * continued by a repetition of the same request alone.
 */
export async function claimKey(state: Queryable, claim: KeyClaim): Promise<Claimed> {
  const { rows } = await state.query<Row>(CLAIM, [
    claim.token,
    claim.path,
    claim.key,
    claim.fingerprint,
    claim.session,
    claim.request,
  ])
  const [row] = rows
  if (row?.mine === true) return { kind: 'mine', begun: row.begun ?? undefined }
  // A row that was made while we waited for it is not in our snapshot: it has just begun.
  if (row === undefined || row.fingerprint === null) return { kind: 'running' }
  if (!row.fingerprint.equals(claim.fingerprint)) return { kind: 'reused' }
  if (row.status === null) return { kind: 'running' }
  const { receipt, status, headers, content_type: contentType, body } = row
  const answer = { receipt, status, headers, contentType, body: body ?? undefined }
  return { kind: 'answered', answer }
}

const IS_OLD = "kept.begun_at < now() - interval '24 hours'"
const CLAIM = `with taken as (
  insert into idempotency_keys as kept (token, path, key, fingerprint, session, request)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (token, path, key) do update set fingerprint = excluded.fingerprint,
    session = excluded.session, request = excluded.request, receipt = null,
    status = null, headers = null, content_type = null, body = null, taken_at = now(),
    begun_at = case when kept.begun is null or ${IS_OLD} then now() else kept.begun_at end,
    begun = case when ${IS_OLD} then null else kept.begun end
  where ${IS_OLD}
    or kept.status is null and (kept.begun is null or kept.fingerprint = excluded.fingerprint)
      and (kept.taken_at < now() - interval '15 minutes'
        or not exists (select from sessions s where s.id = kept.session and s.closed_at is null))
  returning request, begun
)
select taken.request is not null as mine, taken.begun, kept.fingerprint, kept.receipt, kept.status, kept.headers,
  kept.content_type, kept.body
from (select) one left join taken on true
  left join idempotency_keys kept on (kept.token, kept.path, kept.key) = ($1, $2, $3)`

/** Notes what the request began; false where another request has the key. */
export async function beginKey(
  transaction: Queryable,
  claim: KeyClaim,
  begun: object,
): Promise<boolean> {
  const { rowCount } = await transaction.query(
    'update idempotency_keys set begun = $5 where (token, path, key, request) = ($1, $2, $3, $4)',
    [claim.token, claim.path, claim.key, claim.request, JSON.stringify(begun)],
  )
  return rowCount === 1
}

export async function answerKey(
  state: Queryable,
  claim: KeyClaim,
  answer: StoredAnswer,
): Promise<void> {
  await state.query(
    `update idempotency_keys set receipt = $5, status = $6, headers = $7, content_type = $8, body = $9, begun = null
     where (token, path, key, request) = ($1, $2, $3, $4)`,
    [
      claim.token,
      claim.path,
      claim.key,
      claim.request,
      answer.receipt,
      answer.status,
      JSON.stringify(answer.headers),
      answer.contentType,
      answer.body,
    ],
  )
}

/** Gives a key back that has no answer: its next request continues the begun work, or begins anew. */
export async function releaseKey(state: Queryable, claim: KeyClaim): Promise<void> {
  await state.query(
    `with unbegun as (
       delete from idempotency_keys
       where (token, path, key, request) = ($1, $2, $3, $4) and status is null and begun is null)
     update idempotency_keys set session = null
     where (token, path, key, request) = ($1, $2, $3, $4) and status is null and begun is not null`,
    [claim.token, claim.path, claim.key, claim.request],
  )
}

/** Forgets keys of yesterday, a bounded number at once. */
export async function forgetKeys(state: Queryable): Promise<void> {
  await state.query(
    `delete from idempotency_keys where ctid = any (array(
       select ctid from idempotency_keys where begun_at < now() - interval '24 hours' limit 1000))`,
  )
}
