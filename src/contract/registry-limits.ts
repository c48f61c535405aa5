// Limits of the passwords of registries that programs without schemas know too.

/** A host, with a port where it has one; `docker.io` is Docker's. Source: distribution/reference, grammar. */
export const REGISTRY_NAME =
  /^(?=.{1,253}$)(?:localhost|[a-z\d]+(?:[.-][a-z\d]+)*\.[a-z\d-]+|\[[\da-f:.]+\])(?::\d{1,5})?$|^[a-z\d-]{1,63}:\d{1,5}$/i

/** Registries whose passwords an account keeps at most. */
export const REGISTRY_PASSWORDS_MAX = 20
/** Characters: tokens of registries are some thousands long. */
export const REGISTRY_PASSWORD_MAX = 8192
export const REGISTRY_USER_MAX = 255
