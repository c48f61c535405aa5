// Whose an access key is, and what secret it signs with: a token is both, a derived key (derived-keys.ts)
// has a secret of its own. At S3 a caller that is not known is forbidden, where the API says 401.
import { ErgonError } from '#base/errors.ts'
import type { Principal } from '#identity/principal.ts'
import type { Identity } from '#identity/tokens.ts'
import { storageFault, type StorageCode } from '#contract/storage-errors.ts'
import type { FormCredential } from '#s3/post/post-signature.ts'
import type { SignedCredential } from './credential.ts'
import type { CredentialV2 } from './version-two.ts'
import type { DerivedKeys } from './derived-keys.ts'

const REFUSALS: Readonly<Record<string, StorageCode>> = {
  token_unknown: 'InvalidAccessKeyId',
  token_revoked: 'InvalidAccessKeyId',
  token_expired: 'ExpiredToken',
}

/** What a signature is for. */
export type Place = {
  readonly method: string
  readonly bucket: string | undefined
  readonly key: string | undefined
}

export interface Callers {
  /** Whose a bearer token is. Throws InvalidAccessKeyId, ExpiredToken, state_unavailable. */
  ofToken(token: string): Promise<Principal>
  /**
   * Who a signature speaks for, and the secret that it must be made with. Throws the same, and
   * AccessDenied for a token in an address or a form where its account refuses those.
   */
  ofSignature(
    credential: SignedCredential | CredentialV2 | FormCredential,
    place: Place,
  ): Promise<{ readonly who: Principal; readonly secret: string }>
}

export function createCallers(deps: { identity: Identity; keys: DerivedKeys }): Callers {
  const { identity, keys } = deps

  async function ofToken(token: string): Promise<Principal> {
    return await known(() => identity.identifyToken(token))
  }

  return {
    ofToken,
    async ofSignature(credential, place) {
      const { accessKey } = credential
      const derived = keys.read(accessKey)
      if (derived === undefined) {
        const who = await ofToken(accessKey)
        if (!IN_HEADERS.has(credential.kind) && who.refusesTokenPresign)
          throw storageFault('AccessDenied', REFUSED)
        return { who, secret: accessKey }
      }
      const who = await known(() => identity.identifyId(derived.token))
      if (derived.kind === 'pair') return { who, secret: keys.pair(derived.token).secret }
      if (credential.kind !== 'query') throw storageFault('InvalidAccessKeyId')
      const expiresMs = credential.timeMs + (credential.expiresS ?? 0) * 1000
      const { method, bucket = '', key = '' } = place
      const purpose = { account: who.account, method, bucket, key, expiresMs }
      return { who, secret: keys.presigned(derived.token, purpose).secret }
    },
  }
}

/** Where a token is seen by nobody who is not asked; addresses and forms are passed on. */
const IN_HEADERS: ReadonlySet<string> = new Set(['header', 'header-v2'])

const REFUSED =
  'The account refuses presigned addresses and forms that bear a token; have the service make the address, or sign with a pair of keys'

async function known(find: () => Principal | Promise<Principal>): Promise<Principal> {
  try {
    return await find()
  } catch (error) {
    const code = error instanceof ErgonError ? REFUSALS[error.code] : undefined
    throw code === undefined ? error : storageFault(code)
  }
}
