// The buckets of an account in its export, and the object lock that stands against its deletion.
import { recordsOf } from '#http/account-records.ts'
import type { AccountPart } from '#http/gateway-part.ts'
import type { Queryable } from '#state/connect.ts'

/**
 * The list has the command that fetches the bodies. It names this service, because `aws` by itself would ask Amazon.
 */
const BUCKETS_OF = `select b.name as place, b.name, b.region, b.versioning, b.object_lock, b.created_at,
    (select coalesce(sum(bytes), 0)::text from bucket_usage where bucket = b.id) as stored_bytes,
    'ergon storage cp --recursive s3://' || b.name || ' ' || b.name as fetch
  from buckets b where b.account = $1 and b.name > $2 order by b.name limit $3`

/** Versions that no one may delete at that time: governance mode yields to the owner. */
const LOCKED = `select b.name, l.until, l.is_held from buckets b cross join lateral (
    select max(v.retain_until) as until, bool_or(coalesce(v.legal_hold, false)) as is_held
    from object_versions v where v.bucket = b.id
      and (v.legal_hold or v.retention_mode = 'COMPLIANCE' and v.retain_until > $2)) l
  where b.account = $1 and b.object_lock and (l.until is not null or l.is_held) order by b.name`

type Locked = { name: string; until: Date | null; is_held: boolean | null }

export const storageAccount = (state: Queryable): AccountPart => ({
  records: { bucket: recordsOf(state, BUCKETS_OF) },
  async obstacles(account, at) {
    const { rows } = await state.query<Locked>(LOCKED, [account, at])
    return rows.map(({ name, until, is_held: isHeld }) => ({
      resource: `s3:${name}`,
      reason:
        isHeld === true
          ? 'a legal hold protects objects'
          : `object lock protects objects until ${until?.toISOString()}`,
    }))
  },
})
