// Records of the export about the account itself: its tokens without their secrets, its audit log, its events.
import { recordsOf, type Records } from '#http/account-records.ts'
import type { Queryable } from '#state/connect.ts'

export const accountRecords = (state: Queryable): Readonly<Record<string, Records>> => ({
  account: recordsOf(
    state,
    `select id as place, id, env, funded, low_water_pusd::text, created_at from accounts where id = $1 and id > $2 limit $3`,
  ),
  member: recordsOf(
    state,
    `select id as place, id, name, contact, role, state as status, created_at, joined_at, removed_at from members
     where account = $1 and id > $2 order by id limit $3`,
  ),
  token: recordsOf(
    state,
    `select id as place, id, member, name, scope, hint, created_at, expires_at, revoked_at from tokens
     where account = $1 and id > $2 order by id limit $3`,
  ),
  audit: recordsOf(
    state,
    `select id as place, id, at, action, token, request as request_id, target, details from audit_entries
     where account = $1 and id > $2 order by id limit $3`,
  ),
  event: recordsOf(
    state,
    `select lpad(sequence::text, 19, '0') as place, id, type, occurred_at, data from events
     where account = $1 and sequence > coalesce(nullif($2, ''), '0')::bigint order by sequence limit $3`,
  ),
})
