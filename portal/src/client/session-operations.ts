// Passkeys, sessions and logins: operations of the portal's origin alone.
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/browser'

export type Session = {
  readonly account_id: string
  readonly account_name: string | null
  readonly member: { readonly id: string; readonly name: string; readonly role: string }
  readonly is_operator: boolean
  readonly expires_at: string
  /** Until then operations that need a fresh touch are answered. */
  readonly touched_until: string
  /** A recovery code opened the session: it may add a passkey and nothing else. */
  readonly must_add_passkey: boolean
  readonly passkeys_count: number
  readonly recovery_codes_left: number
}

export type SignedUp = {
  readonly account_id: string
  readonly member_id: string
  readonly recovery_codes: readonly string[]
}
export type Passkey = {
  readonly id: string
  readonly name: string
  readonly synced: boolean
  readonly created_at: string
  readonly last_used_at: string | null
}

type Options = { readonly reply: PublicKeyCredentialRequestOptionsJSON }
type Assertion = {
  readonly body: { readonly response: AuthenticationResponseJSON }
  readonly reply: unknown
}

export type SessionOperations = {
  readonly 'POST /v1/sign-up/options': {
    readonly body: { readonly name: string } | { readonly invitation: string }
    readonly reply: PublicKeyCredentialCreationOptionsJSON
  }
  readonly 'POST /v1/sign-up': {
    readonly body: { readonly response: RegistrationResponseJSON }
    readonly reply: SignedUp
  }
  readonly 'POST /v1/sign-in/options': Options
  readonly 'POST /v1/sign-in': Assertion
  readonly 'POST /v1/session/recover': {
    readonly body: { readonly code: string }
    readonly reply: Session
  }
  readonly 'GET /v1/session': { readonly reply: Session }
  readonly 'DELETE /v1/session': { readonly reply: unknown }
  readonly 'POST /v1/session/touch/options': Options
  readonly 'POST /v1/session/touch': Assertion
  readonly 'POST /v1/passkeys/options': { readonly reply: PublicKeyCredentialCreationOptionsJSON }
  readonly 'POST /v1/passkeys': {
    readonly body: { readonly response: RegistrationResponseJSON; readonly name: string }
    readonly reply: Passkey
  }
}
