// The error codes of accounts.
import { account, caller, final, type ErrorTable } from '#contract/error-entry.ts'

export const ACCOUNTS_ERRORS = {
  token_not_found: caller(404, 'Check the id: `ergon tokens list`.', 'not_found_error'),
  member_not_found: caller(404, 'Check the id: `ergon members list`.', 'not_found_error'),
  role_missing: caller(
    403,
    'Ask a member of the role that is named: `ergon members list`.',
    'permission_error',
  ),
  last_owner: final(caller(409, 'Make another member an owner first: `ergon members set`.')),
  too_many_members: caller(409, 'Remove a member, or withdraw an invitation.'),
  invitation_not_found: caller(
    404,
    'Check the code. A code ends when another one is given in its place, or the role changes: ask for the newest one.',
    'not_found_error',
  ),
  invitation_ended: final(caller(409, 'Ask the one who invited you for another code.')),
  not_own_token: caller(
    403,
    'A member rotates its own tokens, and a token below billing-admin only itself: revoke this one, and let its member make another.',
    'permission_error',
  ),
  too_many_tokens: caller(409, 'Revoke a token that is not needed any more.'),
  account_suspended: final(
    account(
      403,
      'permission_error',
      'Ask the operator of the service, who gave the reason; the portal and reads of charges work.',
    ),
  ),
  account_deleting: final(
    caller(
      409,
      'An owner takes the deletion back first: `ergon account restore`. Reads and the export work.',
    ),
  ),
  account_not_deleting: final(caller(409, 'There is no deletion to take back.')),
  account_locked: final(
    caller(409, 'Remove the things in `obstacles`, or wait until they end; nothing was changed.'),
  ),
} as const satisfies ErrorTable
