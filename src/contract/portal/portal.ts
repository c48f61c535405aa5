// Requests and replies of the portal: passkeys, sessions, recovery codes, and logins of command lines.
import { z } from 'zod'
import { ownObject } from '#contract/values/own-object.ts'
import { parseWith } from '#contract/values/parse.ts'
import { plainText } from '#contract/values/plain-text.ts'
import { SCOPES } from '#contract/operation.ts'
import { ROLES } from '#contract/identity/roles.ts'

/** Passkeys that a member has at most. */
export const PASSKEYS_MAX = 20
export const RECOVERY_CODES = 10
/** Longest wait for a passkey. */
export const CHALLENGE_MINUTES = 5
/** Longest wait of a new device, or of a command line, for an approval. */
export const APPROVAL_MINUTES = 10
/** The life of the token of a command line. */
export const LOGIN_TOKEN_DAYS = 90
/** Seconds between two polls of a command line that waits. */
export const LOGIN_INTERVAL_S = 2

/** Ways to reach an authenticator that a passkey names: WebAuthn has six. */
export const PASSKEY_TRANSPORTS_MAX = 10
const PASSKEY_BYTES_MAX = 16_384
const time = z.iso.datetime()
const count = z.int().min(0)
const name = plainText(100).min(1)
const base64url = z
  .string()
  .max(PASSKEY_BYTES_MAX)
  .regex(/^[\w-]+$/, 'must be base64url')

/** The JSON form of a public-key credential (WebAuthn, level 3, §5.1). Browsers may add members. */
const credential = {
  id: base64url.max(1400),
  rawId: base64url.max(1400),
  type: z.literal('public-key'),
  authenticatorAttachment: z.enum(['platform', 'cross-platform']).optional(),
  clientExtensionResults: z.looseObject({}).default({}),
}
const registration = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url,
    attestationObject: base64url,
    transports: z.array(z.string().max(20)).max(PASSKEY_TRANSPORTS_MAX).optional(),
  }),
})
const assertion = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
    userHandle: base64url.optional(),
  }),
})
export type Registration = z.infer<typeof registration>
export type Assertion = z.infer<typeof assertion>

export const signUpOptions = ownObject({
  /** The name of the new account; not asked for with an invitation. */
  name: name.optional(),
  /** The code of an invitation, or of a link for a member that exists. */
  invitation: z
    .string()
    .regex(/^inv_[0-9A-Za-z]{38}$/, 'must be the code of an invitation, inv_…')
    .optional(),
}).refine(
  ({ name: own, invitation }) => (own === undefined) !== (invitation === undefined),
  'must have name or invitation',
)
export type SignUpOptions = z.infer<typeof signUpOptions>

export const signUp = ownObject({
  response: registration,
  /** The name by which people recognise the passkey. */
  passkey_name: name.default('first passkey'),
})
export type SignUp = z.infer<typeof signUp>

export const signIn = ownObject({ response: assertion })
export type SignIn = z.infer<typeof signIn>

export const recovery = ownObject({ code: z.string().max(100) })
export type Recovery = z.infer<typeof recovery>

export const newPasskey = ownObject({ response: registration, name })
export type NewPasskey = z.infer<typeof newPasskey>

export const passkeyChange = ownObject({ name })
export type PasskeyChange = z.infer<typeof passkeyChange>

export const loginRequest = ownObject({
  /** The name of the machine, for the person that approves. */
  name,
  /** RFC 7636: the SHA-256 of the verifier, as base64url. */
  code_challenge: z.string().regex(/^[\w-]{43}$/, 'must be 43 characters of base64url'),
  /** The port of 127.0.0.1 at which the command line waits for the browser. Without it the person types a code. */
  redirect_port: z.int().min(1024).max(65_535).optional(),
  /** Comes back with the redirect. */
  state: z
    .string()
    .regex(/^[\w-]{16,128}$/, 'must be 16 to 128 characters of base64url')
    .optional(),
  /** That the approval page names; the person chooses. */
  scope: z.enum(SCOPES).optional(),
}).refine(
  ({ redirect_port: port, state }) => (port === undefined) === (state === undefined),
  'must have both redirect_port and state, or neither',
)
export type LoginRequest = z.infer<typeof loginRequest>

export const loginApproval = ownObject({
  /** The scope of the token: at most the greatest one of the member's role. */
  scope: z.enum(SCOPES),
})
export type LoginApproval = z.infer<typeof loginApproval>

export const loginRedemption = ownObject({
  /** RFC 7636. */
  code_verifier: z.string().regex(/^[\w.~-]{43,128}$/, 'must be 43 to 128 unreserved characters'),
  /** Of the redirect, where there is one. */
  code: z.string().max(100).optional(),
})
export type LoginRedemption = z.infer<typeof loginRedemption>

/** Each throws invalid_request. */
export const parseSignUpOptions = (json: unknown): SignUpOptions => parseWith(signUpOptions, json)
export const parseSignUp = (json: unknown): SignUp => parseWith(signUp, json)
export const parseSignIn = (json: unknown): SignIn => parseWith(signIn, json)
export const parseRecovery = (json: unknown): Recovery => parseWith(recovery, json)
export const parseNewPasskey = (json: unknown): NewPasskey => parseWith(newPasskey, json)
export const parsePasskeyChange = (json: unknown): PasskeyChange => parseWith(passkeyChange, json)
export const parseLoginRequest = (json: unknown): LoginRequest => parseWith(loginRequest, json)
export const parseLoginApproval = (json: unknown): LoginApproval => parseWith(loginApproval, json)
export const parseLoginRedemption = (json: unknown): LoginRedemption =>
  parseWith(loginRedemption, json)

/** Options for `navigator.credentials`, as WebAuthn names them. */
export const credentialOptions = z.looseObject({ challenge: z.string() })

/** The member that an invitation names, for the person to see before there is a passkey. */
export const invitedMember = z.object({
  account_id: z.string(),
  account_name: z.string().nullable(),
  /** The name of the member who is its owner for longest; null while the account has none. */
  account_owner: z.string().nullable(),
  name: z.string(),
  role: z.enum(ROLES),
  /** True: the link adds a passkey to a member that is active already. */
  is_active: z.boolean(),
})
export type InvitedMember = z.infer<typeof invitedMember>
export const signUpChallenge = credentialOptions.extend({
  /** The member of an invitation. */
  invited: invitedMember.optional(),
})

export const signUpReply = z.object({
  account_id: z.string(),
  member_id: z.string(),
  /** Shown once; empty where the member has codes already. */
  recovery_codes: z.array(z.string()),
})
export type SignUpReply = z.infer<typeof signUpReply>

export const sessionReply = z.object({
  object: z.literal('session'),
  account_id: z.string(),
  account_name: z.string().nullable(),
  member: z.object({ id: z.string(), name: z.string(), role: z.enum(ROLES) }),
  /** True: a member of the operator's account, owner or admin. */
  is_operator: z.boolean(),
  /** The session ends at this time unless a request comes before. */
  expires_at: time,
  /** Until then operations that need a fresh touch are answered. */
  touched_until: time,
  /** True: a recovery code opened the session, which may add a passkey and nothing else. */
  must_add_passkey: z.boolean(),
  passkeys_count: count,
  recovery_codes_left: count,
  /** The reason of the operator, while the account is suspended. */
  suspended_for: z.string().nullable(),
})
export type SessionReply = z.infer<typeof sessionReply>

export const touchReply = z.object({ touched_until: time })
export type TouchReply = z.infer<typeof touchReply>

export const sessionEntry = z.object({
  id: z.string(),
  object: z.literal('browser_session'),
  /** The browser, in its own words. */
  client: z.string(),
  current: z.boolean(),
  created_at: time,
  expires_at: time,
  ends_at: time,
})
export const sessionList = z.object({ object: z.literal('list'), data: z.array(sessionEntry) })
export type SessionList = z.infer<typeof sessionList>

export const passkeyReply = z.object({
  id: z.string(),
  object: z.literal('passkey'),
  name: z.string(),
  /** True: the person's devices share it. */
  synced: z.boolean(),
  created_at: time,
  last_used_at: time.nullable(),
})
export type PasskeyReply = z.infer<typeof passkeyReply>
export const passkeyList = z.object({ object: z.literal('list'), data: z.array(passkeyReply) })
export type PasskeyList = z.infer<typeof passkeyList>

export const recoveryCodes = z.object({ recovery_codes: z.array(z.string()) })
export const removedReply = z.object({ id: z.string(), removed: z.literal(true) })
export const endedReply = z.object({ ended: z.literal(true) })

/** A link with a code, valid once: the device that opens the link adds a passkey of the member. */
export const deviceApproval = z.object({ url: z.string(), code: z.string(), expires_at: time })
export type DeviceApproval = z.infer<typeof deviceApproval>

export const loginBegun = z.object({
  id: z.string(),
  object: z.literal('login'),
  /** Compared, or typed, by the person that approves. */
  user_code: z.string(),
  approve_url: z.string(),
  expires_at: time,
  interval_s: z.int(),
})
export type LoginBegun = z.infer<typeof loginBegun>

export const loginReply = z.object({
  id: z.string(),
  object: z.literal('login'),
  user_code: z.string(),
  name: z.string(),
  /** The network address that asks. */
  address: z.string(),
  /** That the command line asks for, where one was named; the person chooses. */
  scope: z.enum(SCOPES).nullable(),
  expires_at: time,
})
export type LoginReply = z.infer<typeof loginReply>

export const loginApproved = z.object({
  approved: z.literal(true),
  /** The page goes there; null: the command line asks by itself. */
  redirect_url: z.string().nullable(),
})
export type LoginApproved = z.infer<typeof loginApproved>

export const loginFinished = z.object({
  account: z.string(),
  member: z.string(),
  token: z.object({
    id: z.string(),
    /** The secret, shown once. */
    token: z.string(),
    name: z.string(),
    scope: z.enum(SCOPES),
    expires_at: time,
  }),
})
export type LoginFinished = z.infer<typeof loginFinished>
