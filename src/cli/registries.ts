// Parts that the commands of registries share.
import type { RegistryReply } from '#contract/registries.ts'

export type Registry = Pick<RegistryReply, 'registry' | 'username' | 'updated_at'>

export const REGISTRIES_PATH = '/v1/registries'
export const registryPath = (registry: string): string =>
  `${REGISTRIES_PATH}/${encodeURIComponent(registry)}`
