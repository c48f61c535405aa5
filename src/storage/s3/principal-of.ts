// Whose token an access key is. At S3 a caller that is not known is forbidden, where the API says 401.
import { ErgonError } from '#base/errors.ts'
import type { Principal } from '#identity/principal.ts'
import type { Identity } from '#identity/tokens.ts'
import { storageFault, type StorageCode } from '#storage/errors.ts'

const REFUSALS: Readonly<Record<string, StorageCode>> = {
  token_unknown: 'InvalidAccessKeyId',
  token_revoked: 'InvalidAccessKeyId',
  token_expired: 'ExpiredToken',
}

/** Throws InvalidAccessKeyId, ExpiredToken, state_unavailable. */
export const createPrincipalOf =
  (identity: Identity) =>
  async (accessKey: string): Promise<Principal> => {
    try {
      return await identity.identifyToken(accessKey)
    } catch (error) {
      const code = error instanceof ErgonError ? REFUSALS[error.code] : undefined
      throw code === undefined ? error : storageFault(code)
    }
  }
