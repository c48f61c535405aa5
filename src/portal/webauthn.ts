// WebAuthn (W3C, level 3) by @simplewebauthn/server: options for browsers, and the verification of their answers. Passkeys
// are discoverable, of verified users, without attestation. The package is loaded by the first that needs it.
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { messageOf } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { CHALLENGE_MINUTES, type Assertion, type Registration } from '#contract/portal/portal.ts'
import type { PortalOrigin } from './origin.ts'

const TIMEOUT_MS = CHALLENGE_MINUTES * 60_000
const NAME = 'Ergon'

type Transports = NonNullable<RegistrationResponseJSON['response']['transports']>
type KnownCredential = { readonly credential: string; readonly transports: readonly string[] }

/** A passkey as it is kept. */
export type StoredPasskey = KnownCredential & {
  readonly publicKey: Uint8Array
  readonly counter: number
  readonly isSynced: boolean
}

export type CredentialOptions = { readonly challenge: string }

export interface WebAuthn {
  /** Options that make a passkey for a member; authenticators that have one of `known` are excluded. */
  registrationOptions(
    member: { readonly id: string; readonly name: string },
    known: readonly KnownCredential[],
  ): Promise<CredentialOptions>
  /** Options that ask for one of `known`, or for any passkey of the portal. */
  assertionOptions(known?: readonly KnownCredential[]): Promise<CredentialOptions>
  /** Throws passkey_refused. */
  verifyRegistration(response: Registration, challenge: string): Promise<StoredPasskey>
  /** The number of signatures that the authenticator has counted. Throws passkey_refused. */
  verifyAssertion(
    response: Assertion,
    passkey: Omit<StoredPasskey, 'isSynced'>,
    challenge: string,
  ): Promise<number>
}

const library = () => import('@simplewebauthn/server')

export function createWebAuthn({ origin, host }: PortalOrigin): WebAuthn {
  const expected = (challenge: string) => ({
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: host,
    requireUserVerification: true,
  })
  return {
    async registrationOptions({ id, name }, known) {
      const { generateRegistrationOptions } = await library()
      return await generateRegistrationOptions({
        rpName: NAME,
        rpID: host,
        userName: name,
        userDisplayName: name,
        userID: Uint8Array.from(Buffer.from(id)),
        timeout: TIMEOUT_MS,
        attestationType: 'none',
        excludeCredentials: known.map(described),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      })
    },
    async assertionOptions(known) {
      const { generateAuthenticationOptions } = await library()
      return await generateAuthenticationOptions({
        rpID: host,
        timeout: TIMEOUT_MS,
        userVerification: 'required',
        ...(known === undefined ? {} : { allowCredentials: known.map(described) }),
      })
    },
    async verifyRegistration(response, challenge) {
      demandOwnPage(response)
      await demandNoCertificates(response)
      const { verifyRegistrationResponse } = await library()
      const { registrationInfo } = await verifyRegistrationResponse({
        response: response as RegistrationResponseJSON,
        ...expected(challenge),
      }).catch(refuse)
      if (registrationInfo === undefined) throw refused('it is not verified')
      const { credential, credentialBackedUp } = registrationInfo
      return {
        credential: credential.id,
        publicKey: credential.publicKey,
        counter: credential.counter,
        transports: credential.transports ?? [],
        isSynced: credentialBackedUp,
      }
    },
    async verifyAssertion(response, passkey, challenge) {
      demandOwnPage(response)
      const { verifyAuthenticationResponse } = await library()
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response: response as AuthenticationResponseJSON,
        credential: {
          id: passkey.credential,
          publicKey: Uint8Array.from(passkey.publicKey),
          counter: passkey.counter,
        },
        ...expected(challenge),
      }).catch(refuse)
      if (!verified) throw refused('its signature does not fit')
      return authenticationInfo.newCounter
    },
  }
}

/**
 * Refuses an attestation with certificates, which nobody asked for: the verification would fetch the addresses in those
 * of a stranger, without a limit, before it compares their root with a known one.
 */
async function demandNoCertificates({ response }: Registration): Promise<void> {
  const { decodeAttestationObject, isoBase64URL } = await import('@simplewebauthn/server/helpers')
  let isPlain: boolean
  try {
    const attestation = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject))
    const format: unknown = attestation.get('fmt')
    const hasCertificates = attestation.get('attStmt').get('x5c') !== undefined
    isPlain = format === 'none' || (format === 'packed' && !hasCertificates)
  } catch (error) {
    refuse(error)
  }
  if (!isPlain) throw refused('it has an attestation with certificates')
}

const described = ({ credential, transports }: KnownCredential) => ({
  id: credential,
  transports: [...transports] as Transports,
})

/** No page frames the portal: an answer that was made inside of another page is not of a person who sees it. */
function demandOwnPage({ response }: Registration | Assertion): void {
  let made: { readonly crossOrigin?: unknown } | null
  try {
    made = JSON.parse(Buffer.from(response.clientDataJSON, 'base64url').toString()) as typeof made
  } catch (error) {
    refuse(error)
  }
  if (made?.crossOrigin === true) throw refused('it was made inside of a page of another origin')
}

const refused = (why: string, cause?: unknown) =>
  fault('passkey_refused', `Could not accept the passkey: ${why}`, { cause })

/** The package throws for each check that fails, and for an answer that it cannot read. */
function refuse(error: unknown): never {
  throw refused(messageOf(error).slice(0, 200), error)
}
