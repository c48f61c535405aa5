// The account of an access key, and its secret: a token is both key and secret, a derived key (derived-keys.ts) has a
// secret of its own. S3 answers 403 to an unknown caller, the API 401.
import { ErgonError } from '#base/errors.ts'
import type { Principal } from '#identity/principal.ts'
import type { Identity } from '#identity/identity.ts'
import { storageFault, type StorageCode } from '#contract/storage/storage-errors.ts'
import type { FormCredential } from '#s3/post/post-signature.ts'
import type { SignedCredential } from './credential.ts'
import type { CredentialV2 } from './version-two.ts'
import type { DerivedKeys } from './derived-keys.ts'

const REFUSALS: Readonly<Record<string, StorageCode>> = {
  token_unknown: 'InvalidAccessKeyId',
  token_revoked: 'InvalidAccessKeyId',
  token_expired: 'ExpiredToken',
}

/** The request that is signed. */
export type CalledAddress = {
  readonly method: string
  readonly bucket: string | undefined
  readonly key: string | undefined
}

export interface Callers {
  /** The caller of a bearer token. Throws InvalidAccessKeyId, ExpiredToken, state_unavailable. */
  ofToken(token: string): Promise<Principal>
  /**
   * The caller of a signature, and the secret to verify it with. Throws the same, and AccessDenied for a token in an
   * address or a form when its account refuses those.
   */
  ofSignature(
    credential: SignedCredential | CredentialV2 | FormCredential,
    place: CalledAddress,
  ): Promise<{ readonly caller: Principal; readonly secret: string }>
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
        const caller = await ofToken(accessKey)
        if (!IN_HEADERS.has(credential.kind) && caller.refusesTokenPresign)
          throw storageFault('AccessDenied', REFUSED)
        return { caller, secret: accessKey }
      }
      const caller = await known(() => identity.identifyId(derived.token))
      if (derived.kind === 'pair') return { caller, secret: keys.pair(derived.token).secret }
      if (credential.kind !== 'query') throw storageFault('InvalidAccessKeyId')
      const expiresMs = credential.timeMs + (credential.expiresS ?? 0) * 1000
      const { method, bucket = '', key = '' } = place
      const purpose = { account: caller.account, method, bucket, key, expiresMs }
      return { caller, secret: keys.presigned(derived.token, purpose).secret }
    },
  }
}

/** True when only the service sees the token; addresses and forms are passed on. */
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
