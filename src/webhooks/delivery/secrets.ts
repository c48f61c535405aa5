// The signing secrets of endpoints at rest. The key follows from the secret of the data folder, so that the process which
// talks to strangers does not hold that one.
import { createHmac } from 'node:crypto'
import { decrypt, encrypt } from '#base/encryption.ts'
import { Secret } from '#base/log.ts'

/** The key of all signing secrets, from the secret of the data folder. */
export const webhookKeyOf = (secret: string): Secret =>
  new Secret(createHmac('sha256', secret).update('ergon webhook secrets').digest('base64url'))

export const sealSecret = (signing: string, key: Secret, endpoint: string): string =>
  encrypt(new Secret(signing), key, purposeOf(endpoint))

/** Throws `undecipherable`. */
export const openSecret = (sealed: string, key: Secret, endpoint: string): string =>
  decrypt(sealed, key, purposeOf(endpoint)).reveal()

const purposeOf = (endpoint: string): string => `secret of the webhook ${endpoint}`
