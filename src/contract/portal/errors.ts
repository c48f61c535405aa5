// The error codes of the portal: passkeys, sessions and logins of command lines.
import { caller, final, service, type ErrorTable } from '#contract/error-entry.ts'

const SIGN_IN = 'authentication_error'
const FORBIDDEN = 'permission_error'

export const PORTAL_ERRORS = {
  session_missing: caller(401, 'Sign in.', SIGN_IN),
  session_ended: caller(401, 'Sign in again.', SIGN_IN),
  origin_refused: caller(
    403,
    'Ask from a page of the portal: requests of other pages change nothing.',
    FORBIDDEN,
  ),
  touch_required: caller(
    403,
    'Use your passkey again: POST /v1/session/touch/options, then POST /v1/session/touch.',
    FORBIDDEN,
  ),
  passkey_required: caller(
    403,
    'Add a passkey first: POST /v1/passkeys/options, then POST /v1/passkeys.',
    FORBIDDEN,
  ),
  passkey_refused: caller(403, 'Try again, or use another passkey.', FORBIDDEN),
  sign_up_closed: caller(
    403,
    'Open the link that you were sent, or ask the operator for an invitation.',
    FORBIDDEN,
  ),
  recovery_code_refused: caller(
    403,
    'Use a code that was not used before, or ask the operator: `ergon admin recover`.',
    FORBIDDEN,
  ),
  passkey_not_found: caller(404, 'Check the id: GET /v1/passkeys.', 'not_found_error'),
  session_not_found: caller(404, 'Check the id: GET /v1/sessions.', 'not_found_error'),
  login_not_found: caller(404, 'Begin again: `ergon login`.', 'not_found_error'),
  challenge_ended: caller(409, 'Begin again: ask for new options.'),
  passkey_exists: final(caller(409, 'Sign in with this passkey.')),
  last_passkey: final(caller(409, 'Add another passkey first: this is the only way in.')),
  too_many_passkeys: caller(409, 'Remove a passkey that is not needed any more.'),
  login_pending: caller(409, 'Ask again after the time in Retry-After.'),
  portal_only: caller(421, 'Ask on the portal: `portal_url` of the start has its address.'),
  portal_off: final(service(501, 'The service has no portal: the operator sets ERGON_PORTAL_URL.')),
} as const satisfies ErrorTable
