// The roles of the members of an account, and the rights of each: data for the service, the command line and pages.
import type { Scope } from '#contract/operation.ts'

export const ROLES = ['owner', 'admin', 'developer', 'viewer'] as const
export type MemberRole = (typeof ROLES)[number]

type Rights = {
  /** The greatest scope of a token that its members hold. */
  readonly scope: Scope
  /** The roles that its members give: in invitations, and to the members whom they may change. */
  readonly gives: readonly MemberRole[]
  /** The roles of the members whom its members change and remove. */
  readonly changes: readonly MemberRole[]
}

export const RIGHTS: Readonly<Record<MemberRole, Rights>> = {
  owner: { scope: 'billing-admin', gives: ROLES, changes: ROLES },
  admin: {
    scope: 'billing-admin',
    gives: ['admin', 'developer', 'viewer'],
    changes: ['developer', 'viewer'],
  },
  developer: { scope: 'deploy', gives: [], changes: [] },
  viewer: { scope: 'read', gives: [], changes: [] },
}
