// Evidence packs as the API shows them.
import type { PackReply } from '#contract/compliance/compliance.ts'
import { fault } from '#contract/errors.ts'
import type { Queryable } from '#state/connect.ts'

export type EvidencePackRow = Omit<PackReply, 'object' | 'progress' | PackTime> &
  Record<Exclude<PackTime, 'ended_at' | 'expires_at'>, Date> &
  Record<'ended_at' | 'expires_at', Date | null> & {
    readonly done: number | null
    readonly total: number | null
  }
type PackTime = 'from' | 'to' | 'created_at' | 'ended_at' | 'expires_at'

export type PackPage = { readonly before: string | null; readonly limit: number }

/** The packs of an account, the newest first; those before an id, or all. */
export async function packsOf(
  state: Queryable,
  { account, keptDays }: { readonly account: string; readonly keptDays: number },
  { id, before = null, limit = 1 }: Partial<PackPage> & { readonly id?: string } = {},
): Promise<PackReply[]> {
  const { rows } = await state.query<EvidencePackRow>(
    `select p.id, from_at as from, to_at as to, p.status, reason, done::float8, total::float8,
       ceiling_nj::text as ceiling_energy_nj, ceiling_pusd::text, billed.energy_nj, billed.charge_pusd,
       b.size::float8 as size_bytes, manifest_sha256, created_at, ended_at,
       ended_at + $3 * interval '1 day' as expires_at
     from evidence_packs p left join blobs b on b.id = p.blob
     cross join lateral (select c.energy_nj::text, c.charge_pusd::text
       from charged_of_resource(p.account, p.id) c) billed
     where account = $1 and ($2::text is null or p.id = $2) and ($4::text is null or p.id < $4)
     order by p.id desc limit $5`,
    [account, id ?? null, keptDays, before, limit],
  )
  return rows.map(({ done, total, ...row }) => ({
    ...row,
    object: 'compliance.pack',
    from: row.from.toISOString(),
    to: row.to.toISOString(),
    progress: done === null || total === null ? null : { done, total },
    created_at: row.created_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
    expires_at: row.expires_at?.toISOString() ?? null,
  }))
}

/** Throws pack_not_found. */
export async function findPack(
  state: Queryable,
  owner: Parameters<typeof packsOf>[1],
  id: string,
): Promise<PackReply> {
  const [pack] = await packsOf(state, owner, { id })
  if (pack !== undefined) return pack
  throw packNotFound(id)
}

export const packNotFound = (id: string) =>
  fault('pack_not_found', `Could not find the evidence pack: "${id.slice(0, 100)}"`)
