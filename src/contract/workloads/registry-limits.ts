// Limits of the passwords of registries that programs without schemas know too.

/**
 * A host, with a port where it has one; `docker.io` is Docker's. Names of other scripts are in Punycode (`xn--…`). Source:
 * distribution/reference, grammar.
 */
export const REGISTRY_NAME =
  /^(?=.{1,253}$)(?:localhost|[a-z\d]+(?:-+[a-z\d]+)*(?:\.[a-z\d]+(?:-+[a-z\d]+)*)+|\[[\da-f:.]+\])(?::\d{1,5})?$|^[a-z\d-]{1,63}:\d{1,5}$/i

/** Other names of Docker's registry, which its own tools use. */
const DOCKERS_NAMES = new Set([
  'index.docker.io',
  'registry-1.docker.io',
  'registry.hub.docker.com',
])

/** The one name of a registry. */
export function registryName(host: string): string {
  const name = host.toLowerCase()
  return DOCKERS_NAMES.has(name) ? 'docker.io' : name
}

/** Registries whose passwords an account keeps at most. */
export const REGISTRY_PASSWORDS_MAX = 20
/** Characters: tokens of registries are some thousands long. */
export const REGISTRY_PASSWORD_MAX = 8192
export const REGISTRY_USER_MAX = 255
