// The password of a registry for a pull: the account's own, or that of the operator's file as `docker login` writes it. The
// file is read for each pull, so a change needs no start. Source: docker/cli, config.json, "auths".
import { readFile } from 'node:fs/promises'
import { decrypt } from '#base/encryption.ts'
import { messageOf } from '#base/errors.ts'
import { Secret } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import { registryPasswords, type RegistryPasswords } from '#contract/workloads/images.ts'
import { REGISTRY_NAME, registryName } from '#contract/workloads/registry-limits.ts'
import { parseImageReference } from '#images/reference.ts'
import type { RegistryCredentials } from '#images/registry-requests.ts'
import type { Queryable } from '#state/connect.ts'

/** Undefined for an image whose registry has none. Throws registry_unreachable where the operator's file cannot be used. */
export type PasswordFor = (
  image: string,
  account: string,
) => Promise<RegistryCredentials | undefined>

export type PasswordsDeps = {
  readonly state: Queryable
  readonly environmentKey: string
  /** The operator's. */
  readonly file: string | undefined
}

export const createPasswordFor =
  ({ state, environmentKey, file }: PasswordsDeps): PasswordFor =>
  async (image, account) => {
    const reference = parseImageReference(image)
    if (reference.kind !== 'registry') return undefined
    const registry = registryName(reference.registry)
    const { rows } = await state.query<{ username: string; sealed: string }>(
      'select username, sealed_password as sealed from registry_passwords where account = $1 and registry = $2',
      [account, registry],
    )
    const [own] = rows
    if (own === undefined) return await passwordInFile(reference.registry, file)
    const key = new Secret(environmentKey)
    const password = decrypt(own.sealed, key, registryPurpose(account, registry))
    return { user: own.username, password: password.reveal() }
  }

const DOCKERS = 'docker.io'
/** The name that `docker login` gives it. */
const DOCKERS_ENTRY = 'https://index.docker.io/v1/'

/** The registry of a path. Throws invalid_request. */
export function registryNamed({ registry = '' }: Readonly<Record<string, string>>): string {
  if (REGISTRY_NAME.test(registry)) return registryName(registry)
  const words = 'Not a registry, which is a host such as ghcr.io or registry.example.com:5000'
  throw fault('invalid_request', `${words}: ${registry.slice(0, 100)}`)
}

/** The purpose of a sealed password: it is of one account and one registry. */
export const registryPurpose = (account: string, registry: string): string =>
  `password of the registry ${registry} for ${account}`

async function passwordInFile(
  registry: string,
  file: string | undefined,
): Promise<RegistryCredentials | undefined> {
  if (file === undefined) return undefined
  const { auths } = await readPasswords(file)
  const auth = (auths[registry] ?? auths[registry === DOCKERS ? DOCKERS_ENTRY : registry])?.auth
  if (auth === undefined) return undefined
  const [user = '', ...rest] = Buffer.from(auth, 'base64').toString().split(':')
  return { user, password: rest.join(':') }
}

async function readPasswords(file: string): Promise<RegistryPasswords> {
  try {
    return registryPasswords.parse(JSON.parse(await readFile(file, 'utf8')))
  } catch (error) {
    // The content of the file is no part of the message.
    const why =
      error instanceof Error && 'code' in error
        ? messageOf(error)
        : 'it is not as docker login writes it'
    throw fault('registry_unreachable', `Could not read the passwords of registries: ${why}`)
  }
}
