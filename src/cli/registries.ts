// Paths that the commands of registries share.
export const REGISTRIES_PATH = '/v1/registries'
export const registryPath = (registry: string): string =>
  `${REGISTRIES_PATH}/${encodeURIComponent(registry)}`
