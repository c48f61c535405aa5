// Passwords of registries, which the operator keeps in a file as `docker login` writes it. It is read for each pull, so a
// change needs no start. Source: docker/cli, config.json, "auths".
import { readFile } from 'node:fs/promises'
import { messageOf } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { registryPasswords, type RegistryPasswords } from '#contract/images.ts'
import { parseImageReference } from '#images/reference.ts'
import type { RegistryCredentials } from '#images/registry-requests.ts'

/** Undefined for an image whose registry has none. Throws registry_unreachable where the file cannot be used. */
export async function passwordFor(
  image: string,
  file: string | undefined,
): Promise<RegistryCredentials | undefined> {
  const reference = parseImageReference(image)
  if (file === undefined || reference.kind !== 'registry') return undefined
  const { auths } = await readPasswords(file)
  const auth = auths[reference.registry]?.auth
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
