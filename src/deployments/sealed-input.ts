// The description, variables and files of a running deployment, at rest: they may have secrets in them.
import { createHmac } from 'node:crypto'
import { decrypt, encrypt } from '#base/encryption.ts'
import { Secret } from '#base/log.ts'
import type { DeploymentInput } from './described.ts'

/** The key of inputs and of digests, from the secret of the data folder. */
export const deploymentKeyOf = (secret: string): string =>
  createHmac('sha256', secret).update('ergon deployments').digest('base64url')

export const sealInput = (input: DeploymentInput, key: string, id: string): string =>
  encrypt(new Secret(JSON.stringify(input)), new Secret(key), purposeOf(id))

/** Throws `undecipherable`. */
export const openInput = (sealed: string, key: string, id: string): DeploymentInput =>
  JSON.parse(decrypt(sealed, new Secret(key), purposeOf(id)).reveal()) as DeploymentInput

const purposeOf = (id: string): string => `input of the deployment ${id}`
