// Requests and replies of the routed operations of the portal.
import { json, ok, type Descriptions } from '#contract/description.ts'
import type { PORTAL } from './operations.ts'
import * as portal from './portal.ts'

const options = ok('Options for navigator.credentials', json(portal.credentialOptions))
const passkeyFaults = ['challenge_ended', 'passkey_refused'] as const

export const PORTAL_DESCRIPTIONS: Descriptions<typeof PORTAL> = {
  'sign-up.begin': {
    summary: 'Ask for a passkey of a new account, or of the member that an invitation names',
    request: portal.signUpOptions,
    replies: ok(
      'Options for navigator.credentials, and who is invited',
      json(portal.signUpChallenge),
    ),
    refusals: [
      'sign_up_closed',
      'invitation_not_found',
      'invitation_ended',
      'account_deleting',
      'too_many_passkeys',
      'rate_limit_exceeded',
    ],
  },
  'sign-up.finish': {
    summary: 'Make the account, or the member active, with the passkey, and open a session',
    request: portal.signUp,
    replies: {
      201: {
        help: 'Who signed up, and codes that are shown once',
        media: json(portal.signUpReply),
      },
    },
    refusals: [
      ...passkeyFaults,
      'passkey_exists',
      'sign_up_closed',
      'invitation_not_found',
      'invitation_ended',
      'account_deleting',
      'too_many_passkeys',
      'rate_limit_exceeded',
    ],
  },
  'sign-in.begin': {
    summary: 'Ask for any passkey of the portal',
    replies: options,
    refusals: ['rate_limit_exceeded'],
  },
  'sign-in.finish': {
    summary: 'Open a session with a passkey',
    request: portal.signIn,
    replies: ok('The session', json(portal.sessionReply)),
    refusals: [...passkeyFaults, 'account_deleting', 'rate_limit_exceeded'],
  },
  'session.recover': {
    summary: 'Open a session with a recovery code; the session may add a passkey, and nothing else',
    request: portal.recovery,
    replies: ok('The session', json(portal.sessionReply)),
    refusals: ['recovery_code_refused', 'account_deleting', 'rate_limit_exceeded'],
  },
  'session.get': {
    summary: 'Who is signed in, and until when',
    replies: ok('The session', json(portal.sessionReply)),
  },
  'session.end': {
    summary: 'Sign out',
    replies: ok('The session has ended', json(portal.endedReply)),
  },
  'session.touch-begin': {
    summary: 'Ask for a passkey of the member',
    replies: options,
  },
  'session.touch': {
    summary: 'Use a passkey again, for operations that need a fresh touch',
    request: portal.signIn,
    replies: ok('Until when the touch is fresh', json(portal.touchReply)),
    refusals: [...passkeyFaults],
  },
  'session.list': {
    summary: 'The sessions of the member that asks, the newest first',
    replies: ok('The sessions', json(portal.sessionList)),
  },
  'session.remove': {
    summary: 'End a session of the member that asks',
    replies: ok('The session has ended', json(portal.removedReply)),
    refusals: ['session_not_found'],
  },
  'passkey.list': {
    summary: 'The passkeys of the member that asks, the oldest first',
    replies: ok('The passkeys', json(portal.passkeyList)),
  },
  'passkey.begin': {
    summary: 'Ask for another passkey of the member',
    replies: options,
    refusals: ['too_many_passkeys'],
  },
  'passkey.add': {
    summary: 'Add a passkey',
    request: portal.newPasskey,
    replies: { 201: { help: 'The passkey', media: json(portal.passkeyReply) } },
    refusals: [...passkeyFaults, 'passkey_exists', 'too_many_passkeys'],
  },
  'passkey.rename': {
    summary: 'Give a passkey another name',
    request: portal.passkeyChange,
    replies: ok('The passkey', json(portal.passkeyReply)),
    refusals: ['passkey_not_found'],
  },
  'passkey.remove': {
    summary: 'Remove a passkey and end the sessions that it opened',
    replies: ok('The passkey is removed', json(portal.removedReply)),
    refusals: ['passkey_not_found', 'last_passkey'],
  },
  'recovery-codes.renew': {
    summary: 'Make new recovery codes in place of all earlier ones',
    replies: {
      201: { help: 'The codes, which are shown once', media: json(portal.recoveryCodes) },
    },
  },
  'device-approval.create': {
    summary: 'Make a link by which another device of the member adds its passkey, once',
    replies: { 201: { help: 'The link', media: json(portal.deviceApproval) } },
    refusals: ['too_many_passkeys'],
  },
  'login.begin': {
    summary: 'Begin the login of a command line',
    request: portal.loginRequest,
    replies: { 201: { help: 'Where a person approves it', media: json(portal.loginBegun) } },
    refusals: ['portal_off', 'rate_limit_exceeded'],
  },
  'login.get': {
    summary: 'A login that waits for an approval: by its id with a redirect, else by its code',
    replies: ok('What asks, and from where', json(portal.loginReply)),
    refusals: ['login_not_found'],
  },
  'login.approve': {
    summary: 'Let the command line have a token of the member',
    request: portal.loginApproval,
    replies: ok('Where the page goes now', json(portal.loginApproved)),
    refusals: ['login_not_found'],
  },
  'login.finish': {
    summary: 'Take the token of an approved login, once',
    request: portal.loginRedemption,
    replies: { 201: { help: 'The token and its secret', media: json(portal.loginFinished) } },
    refusals: [
      'login_not_found',
      'login_pending',
      'account_deleting',
      'too_many_tokens',
      'rate_limit_exceeded',
    ],
  },
}
