// Passwords of database roles. They are derived, so that the owner can ask for a connection string again and the state
// holds no password.
import { createHmac } from 'node:crypto'

const LENGTH = 32

/** The key of all passwords, from the secret of the data folder. */
export const passwordKeyOf = (secret: string): string =>
  createHmac('sha256', secret).update('ergon database passwords').digest('base64url')

/** The password of the superuser, in every cluster. */
export const superuserPasswordOf = (secret: string): string => passwordKeyOf(`superuser ${secret}`)

/** 192 bits as 32 characters that need no escape in an address. */
export const passwordOf = (key: string, role: string, revision: number): string =>
  createHmac('sha256', key).update(`${role} ${revision}`).digest('base64url').slice(0, LENGTH)
