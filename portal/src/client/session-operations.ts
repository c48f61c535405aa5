// Passkeys and sessions: operations of the portal's origin alone.
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/browser'

export type Session = {
  readonly account_id: string
  readonly account_name: string
  readonly member: { readonly id: string; readonly name: string; readonly role: string }
  readonly is_operator: boolean
  readonly expires_at: string
  /** Until then operations that need a fresh touch are answered; null: touch first. */
  readonly touched_until: string | null
  readonly passkeys_count: number
  readonly recovery_codes_left: number
}

export type SignedUp = {
  readonly account_id: string
  readonly member_id: string
  readonly recovery_codes: readonly string[]
}

export type SessionOperations = {
  readonly 'POST /v1/sign-up/options': {
    readonly body: { readonly name: string; readonly invitation?: string }
    readonly reply: PublicKeyCredentialCreationOptionsJSON
  }
  readonly 'POST /v1/sign-up': {
    readonly body: { readonly response: RegistrationResponseJSON }
    readonly reply: SignedUp
  }
  readonly 'POST /v1/sign-in/options': {
    readonly reply: PublicKeyCredentialRequestOptionsJSON
  }
  readonly 'POST /v1/sign-in': {
    readonly body: { readonly response: AuthenticationResponseJSON }
    readonly reply: unknown
  }
  readonly 'POST /v1/session/recover': {
    readonly body: { readonly code: string }
    readonly reply: unknown
  }
  readonly 'GET /v1/session': { readonly reply: Session }
  readonly 'DELETE /v1/session': { readonly reply: unknown }
  readonly 'POST /v1/session/touch/options': {
    readonly reply: PublicKeyCredentialRequestOptionsJSON
  }
  readonly 'POST /v1/session/touch': {
    readonly body: { readonly response: AuthenticationResponseJSON }
    readonly reply: unknown
  }
}
