// A role as the API shows it, and its changes in the audit log.
import type { DatabaseRoleReply } from '#contract/databases/databases.ts'
import type { RoleRow } from '#databases/logins/find-role.ts'
import { recordAct, type ActingCall } from '#identity/audit.ts'
import type { Queryable } from '#state/connect.ts'

/** A role as its account sees it. */
export const roleReplyOf = ({
  name,
  label,
  is_read_only: isReadOnly,
}: RoleRow): DatabaseRoleReply => ({
  object: 'database.role',
  name: label,
  login: name,
  read_only: isReadOnly,
})

/** Writes a change of a role into the audit log. */
export const recordRole = (
  transaction: Queryable,
  call: ActingCall,
  {
    action,
    id,
    label,
    isReadOnly,
  }: { action: string; id: string; label: string; isReadOnly?: boolean },
) =>
  recordAct(transaction, call, {
    action,
    target: id,
    details: { role: label, read_only: isReadOnly },
  })
