// Members as the API lists them, roles in words, and what the one who is signed in may do to another.
import { RIGHTS, ROLES, type MemberRole } from '#contract/identity/roles.ts'
import type { ReplyOf } from '#console/client/operations.ts'
import type { Tone } from '#console/parts/page/state-word.tsx'

export type Member = ReplyOf<'GET /v1/members'>['data'][number]

const ROLE_WORDS: Readonly<Record<MemberRole, string>> = {
  owner: 'Everything, owners and the account itself too',
  admin: 'Everything but owners and other admins',
  developer: 'Makes and changes what runs; no money, no members',
  viewer: 'Asks models and reads',
}

/** The roles that a member of this role gives, as choices. */
export const choicesOf = (own: MemberRole): readonly (readonly [MemberRole, string, string])[] =>
  ROLES.filter((role) => RIGHTS[own].gives.includes(role)).map((role) => [
    role,
    role,
    ROLE_WORDS[role],
  ])

export const mayInvite = (own: MemberRole): boolean => RIGHTS[own].gives.length > 0

export const mayChange = (own: MemberRole, { role, state }: Member): boolean =>
  state !== 'removed' && RIGHTS[own].changes.includes(role)

const STATES: Readonly<Record<Member['state'], { readonly tone: Tone; readonly word: string }>> = {
  invited: { tone: 'muted', word: 'Invited' },
  active: { tone: 'ok', word: 'Active' },
  removed: { tone: 'muted', word: 'Removed' },
}

export function stateOf({ state, invitation_expires_at: until }: Member, now: Date) {
  const isOver = state === 'invited' && until !== null && new Date(until) < now
  return isOver ? ({ tone: 'warn', word: 'Invitation ended' } as const) : STATES[state]
}
